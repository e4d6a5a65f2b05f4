// SPDX-License-Identifier: BSD-3-Clause
// A row of the product of two sparse matrices, as a functor of make_rows.hpp.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

// Plain pointers of a matrix in the memory of a host or of a device.
struct MatrixPointers {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;

  template <class Matrix>
  explicit MatrixPointers(const Matrix& a)
      : row_ptr(a.row_ptr.data()), col_idx(a.col_idx.data()), values(a.values.data()) {}
};

// Adds up row i of A B, where the rows of B consist of runs, none of which comes twice in a row.
template <int kWidth>
struct ProductRow {
  static constexpr bool kForLanes = true;
  MatrixPointers a, b;
  bool diagonal;

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col_idx[k];
      const double factor = a.values[k];
      for (std::int32_t l = b.row_ptr[j] + sums.lane() * kWidth; l < b.row_ptr[j + 1];
           l += sums.lanes() * kWidth) {
        double* const run = sums.at(b.col_idx[l] / kWidth);
        for (int c = 0; c < kWidth; ++c) run[c] += factor * b.values[l + c];
      }
      sums.next();
    }
    if (diagonal && sums.lane() == 0) sums.insert(static_cast<std::int32_t>(i) / kWidth);
  }
  TRIREME_HD std::int64_t bound(std::int64_t i) const {
    std::int64_t runs = diagonal ? 1 : 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      runs += (b.row_ptr[a.col_idx[k] + 1] - b.row_ptr[a.col_idx[k]]) / kWidth;
    return runs;
  }
};

}  // namespace trireme::multigrid
