// SPDX-License-Identifier: BSD-3-Clause
// Compressed sparse row matrices in host memory: a view, an owner, and the rows of one rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/array.hpp"

namespace trireme {

// A view, which owns nothing. Row i has the entries row_ptr[i] .. row_ptr[i+1]-1 of col_idx and
// values. Columns need not be sorted. Sizes have 64 bits; offsets and columns have 32 bits, so that
// one process holds at most 2^31-1 nonzeros.
template <class Value>
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int32_t> row_ptr;  // rows + 1 offsets, row_ptr[0] == 0
  std::span<const std::int32_t> col_idx;  // nnz, each in [0, cols)
  std::span<const Value> values;          // nnz

  std::int64_t nnz() const { return rows == 0 ? 0 : row_ptr[rows]; }
};

// Owns the arrays of CsrView.
template <class Value>
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Array<std::int32_t> row_ptr{0};
  Array<std::int32_t> col_idx;
  Array<Value> values;

  std::int64_t nnz() const { return static_cast<std::int64_t>(values.size()); }
  CsrView<Value> view() const { return {rows, cols, row_ptr, col_idx, values}; }
};

// The contiguous rows [first_row, first_row + local.rows) of a distributed matrix. The columns of
// `local` are global, so that local.cols == global_cols <= 2^31-1. The matrix may have more than
// 2^31-1 nonzeros on all ranks together.
struct RowSlab {
  std::int64_t global_rows = 0;
  std::int64_t global_cols = 0;
  std::int64_t global_nnz = 0;
  std::int64_t first_row = 0;
  CsrMatrix<double> local;
};

}  // namespace trireme
