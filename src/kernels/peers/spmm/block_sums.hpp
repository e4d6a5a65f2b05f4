// SPDX-License-Identifier: BSD-3-Clause
// Where the sums of parts of rows go, when the nonzeros are shared and rows are cut.
//
// The article clears C and lets every thread add its parts to C with atomicAdd, so that the order
// of the additions, and with it the last bits, change from run to run. Here a block owns the rows
// that begin among its nonzeros:
//
//   row        0       1     2                3    4
//   nonzeros   a a a | b b | c c c : c c c c : c | d d e
//              ^---- block 0 ----^ ^ block 1 ^ ^ block 2
//
//   Block 0 writes y(0), y(1) and its part of y(2). Block 1 and block 2 keep their parts of row 2
//   as carries. When all blocks are done, the carries of a row are added to y in the order of the
//   blocks. Block 2 owns rows 3 and 4.
//
// The size of a block is fixed, so that the bits do not depend on the number of threads. Bytes
// moved for that: one carry per block and vector.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/array.hpp"
#include "kernels/peers/spmm/product.hpp"

namespace trireme::spmm {

struct Range {
  std::int64_t begin = 0, end = 0;
};

// Takes the sums of one block for the vectors of one tile.
template <class Value>
class BlockSums {
 public:
  using Sum = HostSumOf<Value>;

  // `carry` has one element per vector of the tile.
  BlockSums(const Product<Value>& tile, std::int64_t begin, Sum* carry)
      : tile_(tile), begin_(begin), carry_(carry) {
    std::fill_n(carry, tile.width(), Sum{});
  }
  ~BlockSums() { finish(); }
  BlockSums(const BlockSums&) = delete;
  BlockSums& operator=(const BlockSums&) = delete;

  // A part of `row` that begins with nonzero `first`. The parts of a row come in their order.
  void add(std::int64_t row, std::int64_t first, const Sum* sums) {
    const std::int64_t row_begin = tile_.a.row_ptr[row];
    if (row_begin == first) {
      finish();
      row_ = row;
      const Value* y = tile_.y.row(row);
      for (std::int64_t j = 0; j < tile_.width(); ++j)
        sums_[j] = tile_.add ? static_cast<Sum>(y[j]) + sums[j] : sums[j];
      return;
    }
    Sum* target = row_begin >= begin_ ? sums_ : carry_;
    for (std::int64_t j = 0; j < tile_.width(); ++j) target[j] += sums[j];
  }

 private:
  // Writes the row that the block owns and whose last part has come.
  void finish() {
    if (row_ < 0) return;
    Value* y = tile_.y.row(row_);
    for (std::int64_t j = 0; j < tile_.width(); ++j) y[j] = static_cast<Value>(sums_[j]);
  }

  const Product<Value>& tile_;
  std::int64_t begin_;  // the block's first nonzero
  Sum* carry_;
  std::int64_t row_ = -1;  // the row whose parts come, unless it is that of the carry
  Sum sums_[kTile];
};

// Adds the carries of all blocks to Y. The thread that meets the first carry of a row adds all
// carries of that row.
template <class Value>
void add_carries(const Product<Value>& tile, std::int64_t block_size,
                 const HostSumOf<Value>* carries) {
  const CsrView<Value>& a = tile.a;
  const std::int64_t blocks = block_count(a.nnz(), block_size);
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 1; block < blocks; ++block) {
    const std::int64_t begin = block * block_size;
    const std::int64_t row = row_of(a, begin);
    const bool cut = a.row_ptr[row] < begin;
    const bool first_carry = a.row_ptr[row] >= begin - block_size;
    if (!cut || !first_carry) continue;
    Value* y = tile.y.row(row);
    for (std::int64_t j = 0; j < tile.width(); ++j) {
      auto sum = static_cast<HostSumOf<Value>>(y[j]);
      for (std::int64_t b = block; b < blocks && b * block_size < a.row_ptr[row + 1]; ++b)
        sum += carries[b * kTile + j];
      y[j] = static_cast<Value>(sum);
    }
  }
}

// No block owns a row without nonzeros.
template <class Value>
void clear_empty_rows(const Product<Value>& product) {
  if (product.add) return;
  const CsrView<Value>& a = product.a;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < a.rows; ++row)
    if (a.row_ptr[row] == a.row_ptr[row + 1])
      std::fill_n(product.y.row(row), product.width(), Value{});
}

// Calls walk(tile, range, sums) for the nonzeros of each thread or warp, tile after tile. `carries`
// has kTile elements per block.
template <class Value, class Walk>
void share_nonzeros(const Product<Value>& product, std::int64_t tile_size, std::int64_t block_size,
                    Array<HostSumOf<Value>>& carries, Walk&& walk) {
  clear_empty_rows(product);
  const std::int64_t nnz = product.a.nnz();
  for_each_tile(product, tile_size, [&](const Product<Value>& tile) {
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < block_count(nnz, block_size); ++block) {
      const Range all{block * block_size, std::min(nnz, (block + 1) * block_size)};
      BlockSums<Value> sums(tile, all.begin, carries.data() + block * kTile);
      for (std::int64_t begin = all.begin; begin < all.end; begin += kNonzeros)
        walk(tile, Range{begin, std::min(all.end, begin + kNonzeros)}, sums);
    }
    add_carries(tile, block_size, carries.data());
  });
}

}  // namespace trireme::spmm
