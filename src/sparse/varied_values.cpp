// SPDX-License-Identifier: BSD-3-Clause
// One pass over the rows.
#include "sparse/varied_values.hpp"

#include <cmath>
#include <numbers>

namespace trireme {

Array<double> varied_values(const RowSlab& slab, std::int64_t step, std::int64_t steps) {
  constexpr double kWaves = 3;  // over all rows
  const auto rows = static_cast<double>(slab.global_rows);
  const double time = static_cast<double>(step) / static_cast<double>(steps);
  const auto coefficient = [&](std::int64_t row) {
    const double place = kWaves * static_cast<double>(row) / rows;
    return 1 + 0.5 * std::sin(2 * std::numbers::pi * (place + time));
  };
  const CsrMatrix<double>& a = slab.local;
  Array<double> values(a.values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t local = 0; local < a.rows; ++local) {
    const std::int64_t row = slab.first_row + local;
    const double of_row = coefficient(row);
    double row_sum = 0, off_diagonal = 0;
    std::int64_t diagonal = -1;
    for (std::int64_t k = a.row_begin(local); k < a.row_begin(local + 1); ++k) {
      row_sum += a.values[k];
      if (slab.column(k) == row) {
        diagonal = k;
        continue;
      }
      values[k] = a.values[k] * 0.5 * (of_row + coefficient(slab.column(k)));
      off_diagonal += values[k];
    }
    if (diagonal >= 0) values[diagonal] = row_sum * of_row - off_diagonal;
  }
  return values;
}

}  // namespace trireme
