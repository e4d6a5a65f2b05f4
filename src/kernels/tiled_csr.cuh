// SPDX-License-Identifier: BSD-3-Clause
// A CSR in device memory, cut into tiles of the same number of nonzeros. A tile is the share of one
// thread block (multiply_tile.cuh).
//
//   nonzeros   |<------ tile 0 ------>|<------ tile 1 ------>|<------ tile 2 ------>|
//   rows       aaaaabbbcccccccccccccccccccccccccccccccccccccccccccccdddddeeeeeeeefffff
//
//   Rows a and b start and end in tile 0, which sums and stores them. Row c is cut: tile 0 has its
//   first part (the tail of tile 0), tiles 1 and 2 have the other parts (their heads).
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/stream.hpp"

namespace trireme::tiles {

inline constexpr int kThreads = 256;                 // per block
inline constexpr int kPerThread = 8;                 // nonzeros
inline constexpr int kTile = kThreads * kPerThread;  // nonzeros

// A view of the matrix and of its cut. Rows [first_row[t], first_row[t+1]) start in tile t; empty
// rows at the end of the matrix belong to the last tile. There is at least one tile.
template <class Value>
struct TiledCsr {
  std::int32_t rows = 0;
  std::int32_t nnz = 0;
  std::int32_t count = 0;  // tiles
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* col_idx = nullptr;
  const Value* values = nullptr;
  const std::int32_t* first_row = nullptr;  // count + 1
  const std::int32_t* row_map = nullptr;    // the caller's row of each row; nullptr: the same
  void* parts = nullptr;             // 2 count sums: head of tile t at 2t, its tail at 2t + 1
  std::uint32_t* arrived = nullptr;  // count counters, zero between products
};

namespace detail {
// Sets first_row[t] to the first row that starts in tile t or later, and first_row[count] to
// `rows`.
static __global__ void find_first_rows(std::int32_t rows, std::int32_t count,
                                       const std::int32_t* row_ptr, std::int32_t* first_row) {
  const std::int32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile > count) return;
  std::int32_t low = 0, high = rows;
  if (tile == count) low = rows;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (row_ptr[middle] < tile * kTile)
      low = middle + 1;
    else
      high = middle;
  }
  first_row[tile] = low;
}
}  // namespace detail

// Owns the cut of a matrix, and the memory in which the tiles exchange the sums of cut rows. Number
// is the type of these sums.
template <class Number>
class TileCut {
 public:
  TileCut() = default;
  // Takes O(tiles log rows) time. Asynchronous in `stream`.
  TileCut(std::int64_t rows, std::int64_t nnz, const std::int32_t* row_ptr, StreamRef stream)
      : rows_(static_cast<std::int32_t>(rows)), nnz_(static_cast<std::int32_t>(nnz)) {
    count_ = std::max<std::int32_t>(1, nnz_ / kTile + (nnz_ % kTile != 0));
    first_row_ = DeviceBuffer<std::int32_t>(count_ + 1, stream);
    parts_ = DeviceBuffer<Number>(2 * count_, stream);
    arrived_ = DeviceBuffer<std::uint32_t>(count_, stream);
    fill_zero(arrived_.span(), stream);
    detail::find_first_rows<<<count_ / 256 + 1, 256, 0, stream>>>(rows_, count_, row_ptr,
                                                                  first_row_.data());
    check_launch();
  }

  std::int32_t count() const { return count_; }
  std::int64_t bytes() const {  // that a product reads of the cut
    return static_cast<std::int64_t>(first_row_.size() * sizeof(std::int32_t));
  }

  template <class Value>
  TiledCsr<Value> view(const std::int32_t* row_ptr, const std::int32_t* col_idx,
                       const Value* values, const std::int32_t* row_map = nullptr) const {
    return {rows_,   nnz_,          count_,         row_ptr, col_idx, values, first_row_.data(),
            row_map, parts_.data(), arrived_.data()};
  }

 private:
  std::int32_t rows_ = 0, nnz_ = 0, count_ = 0;
  DeviceBuffer<std::int32_t> first_row_;
  DeviceBuffer<Number> parts_;
  DeviceBuffer<std::uint32_t> arrived_;
};

}  // namespace trireme::tiles
