// SPDX-License-Identifier: BSD-3-Clause
// The vectors and the values with which kernel_bench multiplies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "base/array.hpp"
#include "base/half.hpp"
#include "sparse/csr.hpp"

namespace trireme::bench {

// One value of the matrix in the precision that is measured. An integer is 16 v, limited to +-1000,
// so that values below one do not become 0 and no sum overflows.
template <class Value>
Value to_value(double v) {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<Value>(std::lround(std::clamp(16 * v, -1000.0, 1000.0)));
  else if constexpr (std::is_same_v<Value, Half>)
    return Half(static_cast<float>(v));
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

// The same vector in every run. Its elements have both signs and magnitudes in [1/8, 1] (integers:
// 1 to 8), and neighbours differ.
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

// A value that no product gives: NaN for floating point, the minimum for integers.
template <class Value>
Value poison() {
  if constexpr (std::is_integral_v<Value>)
    return std::numeric_limits<Value>::min();
  else
    return static_cast<Value>(std::numeric_limits<float>::quiet_NaN());
}

}  // namespace trireme::bench
