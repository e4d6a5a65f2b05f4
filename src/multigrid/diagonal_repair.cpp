// SPDX-License-Identifier: BSD-3-Clause
// Finds and replaces diagonal entries that are rounding.
#include "multigrid/diagonal_repair.hpp"

#include <cmath>

#include "multigrid/host_place.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// A diagonal entry below this multiple of the sum of p_ic^2 |a_ii| is rounding.
constexpr double kRounding = 0x1p-44;

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

struct Repair {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* values;
  const double* weight;
  double substitute;  // for columns without a weight

  // Returns whether the row needed it.
  TRIREME_HD double operator()(std::int64_t c) const {
    for (std::int32_t k = row_ptr[c]; k < row_ptr[c + 1]; ++k) {
      if (col_idx[k] != c) continue;
      if (std::abs(values[k]) > kRounding * weight[c]) return 0;
      values[k] = weight[c] > 0 ? weight[c] : substitute;
      return 1;
    }
    return 0;
  }
};

}  // namespace

Array<double> column_weights(const CsrMatrix<double>& pt, std::span<const double> diagonal) {
  Array<double> weights(pt.rows);
  const ColumnWeight find{pt.row_ptr.data(), pt.col_idx.data(), pt.values.data(), diagonal.data()};
  HostPlace::for_each(pt.rows, [&](std::int64_t c) { weights[c] = find(c); });
  return weights;
}

std::int64_t repair_diagonal(CsrMatrix<double>& matrix, std::span<const double> weights,
                             double substitute) {
  return static_cast<std::int64_t>(
      HostPlace::sum(matrix.rows, Repair{matrix.row_ptr.data(), matrix.col_idx.data(),
                                         matrix.values.data(), weights.data(), substitute}));
}

}  // namespace trireme::multigrid
