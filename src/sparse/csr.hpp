// SPDX-License-Identifier: BSD-3-Clause
// Compressed sparse row matrices in host memory: a view, an owner, and the rows of one rank.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"

namespace trireme {

// Offsets of 32 bits count so many nonzeros.
inline constexpr std::int64_t kMostNonzerosOfBlock = 2147483647;

// A view, which owns nothing. Row i has the entries row_ptr[i] .. row_ptr[i+1]-1 of col_idx and
// values. Columns need not be sorted. Sizes have 64 bits; offsets and columns have 32 bits, so that
// a view has at most 2^31-1 nonzeros.
template <class Value>
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int32_t> row_ptr;  // rows + 1 offsets, row_ptr[0] == 0
  std::span<const std::int32_t> col_idx;  // nnz, each in [0, cols)
  std::span<const Value> values;          // nnz

  std::int64_t nnz() const { return rows == 0 ? 0 : row_ptr[rows]; }
};

// Consecutive rows of a CsrMatrix as a matrix of their own.
template <class Value>
struct RowBlock {
  std::int64_t first_row = 0;    // the row of the matrix that is row 0 of `csr`
  std::int64_t first_entry = 0;  // the position of its first entry in col_idx and values
  CsrView<Value> csr;
};

// Throws Error{resource}: what was asked for takes one block of rows, and there are more.
[[noreturn]] void fail_several_blocks(std::int64_t nonzeros);

// Owns a matrix of any number of nonzeros. Its rows are cut into blocks of at most 2^31-1 nonzeros;
// almost every matrix is one block. The entries of all blocks lie one after the other, and the
// offsets of each block begin at 0:
//
//   row_ptr   0 2 5 | 0 1 4   the rows 0, 1 | 2, 3, which is cuts == {2}
//   col_idx, values   5 entries | 4 entries
template <class Value>
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Array<std::int32_t> row_ptr{0};  // rows + 1 offsets for one block; one more for each cut
  Array<std::int32_t> col_idx;
  Array<Value> values;
  std::vector<std::int64_t> cuts{};  // the first row of each block but the first one; ascending

  std::int64_t nnz() const { return static_cast<std::int64_t>(values.size()); }
  std::vector<RowBlock<Value>> blocks() const;  // one or more
  // The position in col_idx and values of the first entry of the row; nnz() for row == rows.
  std::int64_t row_begin(std::int64_t row) const {
    std::int64_t before = 0;
    std::size_t block = 0;
    for (; block < cuts.size() && row >= cuts[block]; ++block)
      before += row_ptr[cuts[block] + block];  // the last offset of the block
    return before + row_ptr[row + block];
  }
  // Throws Error{resource} where the matrix has several blocks.
  void require_one_block() const {
    if (!cuts.empty()) fail_several_blocks(nnz());
  }
  // The matrix as one block. Throws what require_one_block() throws.
  CsrView<Value> view() const {
    require_one_block();
    return {rows, cols, row_ptr, col_idx, values};
  }
};

template <class Value>
std::vector<RowBlock<Value>> CsrMatrix<Value>::blocks() const {
  std::vector<RowBlock<Value>> result;
  std::int64_t entry = 0;
  for (std::size_t block = 0; block <= cuts.size(); ++block) {
    const std::int64_t first = block == 0 ? 0 : cuts[block - 1];
    const std::int64_t last = block == cuts.size() ? rows : cuts[block];
    const auto offsets = std::span(row_ptr).subspan(first + block, last - first + 1);
    const std::int64_t count = offsets.back();
    const auto part = [&](const auto& array) {  // of one of several kinds that may be left out
      const std::span all(array);
      return all.empty() ? all : all.subspan(entry, count);
    };
    result.push_back({first, entry, {last - first, cols, offsets, part(col_idx), part(values)}});
    entry += count;
  }
  return result;
}

// Rows and columns of a matrix on all ranks together. A rank has at most 2^31-1 rows.
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 40;

// The contiguous rows [first_row, first_row + local.rows) of a distributed matrix. The columns of
// `local` are global, so that local.cols == global_cols. A matrix of more than 2^31-1 columns has
// them in wide_columns, and local.col_idx is empty.
struct RowSlab {
  std::int64_t global_rows = 0;
  std::int64_t global_cols = 0;
  std::int64_t global_nnz = 0;
  std::int64_t first_row = 0;
  CsrMatrix<double> local{};
  Array<std::int64_t> wide_columns{};  // as local.col_idx, with 64 bits

  bool is_wide() const { return global_cols > std::numeric_limits<std::int32_t>::max(); }
  // The global column of an entry.
  std::int64_t column(std::int64_t entry) const {
    return is_wide() ? wide_columns[entry] : local.col_idx[entry];
  }
};

// Throws Error{resource} for more rows of one rank than 32 bits number.
void require_local_rows(const std::string& name, std::int64_t rows);

}  // namespace trireme
