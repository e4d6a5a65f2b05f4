// SPDX-License-Identifier: BSD-3-Clause
// Finds and replaces diagonal entries that are rounding.
#include "multigrid/set_up/diagonal_repair.hpp"

#include <cmath>

#include "multigrid/set_up/diagonal_repair_functors.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

Array<double> column_weights(const CsrMatrix<double>& pt, std::span<const double> diagonal) {
  Array<double> weights(pt.rows);
  const ColumnWeight find{pt.row_ptr.data(), pt.col_idx.data(), pt.values.data(), diagonal.data()};
  HostPlace::for_each(pt.rows, [&](std::int64_t c) { weights[c] = find(c); });
  return weights;
}

std::int64_t repair_diagonal(CsrMatrix<double>& matrix, std::span<const double> weights,
                             double substitute) {
  return static_cast<std::int64_t>(
      HostPlace::sum(matrix.rows, RepairRow{matrix.row_ptr.data(), matrix.col_idx.data(),
                                            matrix.values.data(), weights.data(), substitute}));
}

}  // namespace trireme::multigrid
