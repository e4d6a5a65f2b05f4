// SPDX-License-Identifier: BSD-3-Clause
// The entries of a row of the filtered matrix A_F, for the functors of the set-up.
#pragma once

#include <cstdint>
#include <span>

#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/product_row.hpp"
#include "multigrid/set_up/prolongator.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// Plain pointers of a FilteredMatrix.
struct FilteredRows {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  const std::uint8_t* strong;  // null: all entries are
  std::int32_t size;           // rows per node

  explicit FilteredRows(const FilteredMatrix& f)
      : row_ptr(f.a.local.row_ptr.data()),
        col_idx(f.a.local.col_idx.data()),
        values(f.a.local.values.data()),
        strong(f.strong.empty() ? nullptr : f.strong.data()),
        size(f.block_size) {}

  // A matrix in the memory of a host or of a device. `strong_entries` may be null.
  FilteredRows(const MatrixPointers& matrix, const std::uint8_t* strong_entries,
               std::int32_t block_size)
      : row_ptr(matrix.row_ptr),
        col_idx(matrix.col_idx),
        values(matrix.values),
        strong(strong_entries),
        size(block_size) {}

  // The number of calls of visit() for row i.
  TRIREME_HD std::int64_t entries(std::int64_t i) const { return row_ptr[i + 1] - row_ptr[i]; }

  // Calls visit(column, value) for each entry of row i of A_F; entries of a column may come in
  // several parts.
  template <class Visit>
  TRIREME_HD void for_entries(std::int64_t i, const Visit& visit) const {
    if (!strong) {
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) visit(col_idx[k], values[k]);
    } else if (size == 1) {
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        visit(strong[k] ? col_idx[k] : static_cast<std::int32_t>(i), values[k]);
    } else {
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        visit(strong[k] ? col_idx[k] : own_column(i, col_idx[k]), values[k]);
    }
  }

  // The column of entry k of row i in A_F.
  TRIREME_HD std::int32_t column(std::int64_t i, std::int32_t k) const {
    const std::int32_t own = col_idx[k];
    if (!strong || strong[k]) return own;
    return size == 1 ? static_cast<std::int32_t>(i) : own_column(i, own);
  }

  // The sum of term(column, value) over row i, by all lanes of a group (one_thread.hpp).
  template <class Group, class Term>
  TRIREME_HD double total(std::int64_t i, const Group& group, const Term& term) const {
    const std::int32_t first = row_ptr[i];
    return group.total(entries(i), [&](std::int64_t t) {
      const auto k = static_cast<std::int32_t>(first + t);
      return term(column(i, k), values[k]);
    });
  }

  // Returns the product of row i of A_F and x. Entry k of the row is a term of sum k % kLanesOfRow,
  // and the sums are added by halves.
  double product(std::int64_t i, const double* x) const {
    double sums[kLanesOfRow] = {};
    int at = 0;
    for_entries(i, [&](std::int32_t j, double value) {
      sums[at] += value * x[j];
      at = (at + 1) % kLanesOfRow;
    });
    for (int half = kLanesOfRow / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
  }

  // The column of the row's own node that has the unknown of `column`.
  TRIREME_HD std::int32_t own_column(std::int64_t i, std::int32_t column) const {
    return static_cast<std::int32_t>(i - i % size) + column % size;
  }
};

}  // namespace trireme::multigrid
