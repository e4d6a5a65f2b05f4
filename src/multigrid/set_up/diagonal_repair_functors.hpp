// SPDX-License-Identifier: BSD-3-Clause
// The functors of diagonal_repair.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

// A diagonal entry below this multiple of the sum of p_ic^2 |a_ii| is rounding.
inline constexpr double kDiagonalRounding = 0x1p-44;

// Returns the sum of p_ic^2 |a_ii| for column c of P.
struct ColumnWeight {
  const std::int32_t* row_ptr;  // of P^T
  const std::int32_t* col_idx;
  const double* values;
  const double* diagonal;

  TRIREME_HD double operator()(std::int64_t c) const {
    double sum = 0;
    for (std::int32_t k = row_ptr[c]; k < row_ptr[c + 1]; ++k)
      sum += values[k] * values[k] * std::abs(diagonal[col_idx[k]]);
    return sum;
  }
};

struct RepairRow {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* values;
  const double* weight;
  double substitute;  // for columns without a weight

  // Returns whether the row needed it.
  TRIREME_HD double operator()(std::int64_t c) const {
    for (std::int32_t k = row_ptr[c]; k < row_ptr[c + 1]; ++k) {
      if (col_idx[k] != c) continue;
      if (std::abs(values[k]) > kDiagonalRounding * weight[c]) return 0;
      values[k] = weight[c] > 0 ? weight[c] : substitute;
      return 1;
    }
    return 0;
  }
};

}  // namespace trireme::multigrid
