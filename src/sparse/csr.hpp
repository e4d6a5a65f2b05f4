// SPDX-License-Identifier: BSD-3-Clause
// Compressed sparse row matrices on the host: a view, an owner, and the rows that one rank holds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/array.hpp"

namespace trireme {

// Row i holds entries row_ptr[i] .. row_ptr[i+1]-1 of col_idx and values. Columns need not be
// sorted. Sizes are 64-bit; offsets and column ids 32-bit, so one process holds at most 2^31-1
// nonzeros.
template <class Value>
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int32_t> row_ptr;  // rows + 1, row_ptr[0] == 0
  std::span<const std::int32_t> col_idx;  // nnz, each in [0, cols)
  std::span<const Value> values;          // nnz

  std::int64_t nnz() const { return rows == 0 ? 0 : row_ptr[rows]; }
};

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

// The contiguous rows [first_row, first_row + local.rows) of a distributed matrix. local.cols ==
// global_cols: column ids are global (hence at most 2^31-1 columns; nonzeros are counted in 64
// bits).
struct RowSlab {
  std::int64_t global_rows = 0;
  std::int64_t global_cols = 0;
  std::int64_t global_nnz = 0;
  std::int64_t first_row = 0;
  CsrMatrix<double> local;
};

}  // namespace trireme
