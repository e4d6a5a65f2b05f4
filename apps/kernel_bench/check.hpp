// SPDX-License-Identifier: BSD-3-Clause
// The vectors that kernel_bench multiplies by, the conversion of values, and the check of a
// product.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme::bench {

// One value of the matrix in the precision that is measured. Integers: 16 v, within +-1000, so that
// values below one do not vanish and no sum overflows.
template <class Value>
Value to_value(double v) {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<Value>(std::lround(std::clamp(16 * v, -1000.0, 1000.0)));
  else
    return static_cast<Value>(v);
}

template <class Value>
Array<Value> convert_values(const CsrMatrix<double>& matrix) {
  Array<Value> values(matrix.values.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = to_value<Value>(matrix.values[k]);
  return values;
}

// Repeatable, of both signs, magnitudes in [1/8, 1] (integers: 1 to 8), no two neighbours alike.
template <class Value>
Array<Value> bench_vector(std::int64_t size) {
  Array<Value> x(size);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto hash = static_cast<std::uint32_t>(i) * 2654435761u;
    const auto magnitude = static_cast<int>(hash >> 29) + 1;
    const int number = (hash & 0x10000u) ? magnitude : -magnitude;
    if constexpr (std::is_integral_v<Value>)
      x[i] = number;
    else
      x[i] = static_cast<Value>(static_cast<float>(number) / 8);
  }
  return x;
}

// NaN for floating point, a number that no product gives for integers.
template <class Value>
Value poison() {
  if constexpr (std::is_integral_v<Value>)
    return std::numeric_limits<Value>::min();
  else
    return static_cast<Value>(std::numeric_limits<float>::quiet_NaN());
}

struct ProductError {
  double worst = 0;  // largest |y_i - reference_i| / bound_i; infinite for NaN or a missed row
  std::int64_t row = 0;
};

// Against a sum in long double, in units of the bound 2 (n_i + 1) eps sum_j |a_ij||x_j| (integers:
// exact). Value: what the kernel computes in.
template <class Value>
ProductError product_error(const CsrView<Value>& a, std::span<const Value> x,
                           std::span<const Value> y) {
  ProductError error;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    long double sum = 0, magnitude = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const long double term = static_cast<long double>(a.values[k]) * x[a.col_idx[k]];
      sum += term;
      magnitude += std::fabs(term);
    }
    const double difference =
        static_cast<double>(std::fabs(static_cast<long double>(y[row]) - sum));
    if (difference == 0) continue;
    const double epsilon = std::is_integral_v<Value>
                               ? 0.0
                               : static_cast<double>(std::numeric_limits<Value>::epsilon());
    const double bound =
        2.0 * (a.row_ptr[row + 1] - a.row_ptr[row] + 1) * epsilon * static_cast<double>(magnitude);
    double ratio = difference / bound;
    if (!(ratio < std::numeric_limits<double>::infinity()))
      ratio = std::numeric_limits<double>::infinity();
    if (ratio > error.worst) error = {ratio, row};
  }
  return error;
}

}  // namespace trireme::bench
