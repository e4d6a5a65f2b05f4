// SPDX-License-Identifier: BSD-3-Clause
// A diagonal matrix as the passes of the solvers read it.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

// Four neighbouring numbers of a vector, which a GPU loads or stores at once. A pass that computes
// with numbers only by the operators below, wide() and sum_of() works on them too.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T of[4];

  Four() = default;
  TRIREME_HD explicit Four(double all) {
    for (T& number : of) number = static_cast<T>(all);
  }
  template <class From>
  TRIREME_HD explicit Four(const Four<From>& from) {
    for (int k = 0; k < 4; ++k) of[k] = static_cast<T>(from.of[k]);
  }
};
TRIREME_HD Four<double> operator+(Four<double> a, const Four<double>& b) {
  for (int k = 0; k < 4; ++k) a.of[k] += b.of[k];
  return a;
}
TRIREME_HD Four<double> operator-(Four<double> a, const Four<double>& b) {
  for (int k = 0; k < 4; ++k) a.of[k] -= b.of[k];
  return a;
}
TRIREME_HD Four<double> operator*(Four<double> a, const Four<double>& b) {
  for (int k = 0; k < 4; ++k) a.of[k] *= b.of[k];
  return a;
}
TRIREME_HD Four<double> operator*(double a, Four<double> b) {
  for (double& number : b.of) number *= a;
  return b;
}

// A number of a vector in FP32 or FP64, or four, as passes compute with it.
TRIREME_HD double wide(double number) { return number; }
TRIREME_HD double wide(float number) { return static_cast<double>(number); }
TRIREME_HD Four<double> wide(const Four<float>& numbers) { return Four<double>(numbers); }

TRIREME_HD double sum_of(double number) { return number; }
TRIREME_HD double sum_of(const Four<double>& numbers) {
  return (numbers.of[0] + numbers.of[1]) + (numbers.of[2] + numbers.of[3]);
}

// One number per row, or one number for all rows; then no array is read.
template <class T>
struct DiagonalOf {
  const T* values = nullptr;
  double constant = 1;
  TRIREME_HD T operator[](std::int64_t i) const {
    return values ? values[i] : static_cast<T>(constant);
  }
};
using Diagonal = DiagonalOf<double>;

// The same vector by fours. It begins at a multiple of 16 bytes, as all vectors in FP32 do.
TRIREME_HD Four<float>* in_fours(float* vector) { return reinterpret_cast<Four<float>*>(vector); }
TRIREME_HD const Four<float>* in_fours(const float* vector) {
  return reinterpret_cast<const Four<float>*>(vector);
}
TRIREME_HD DiagonalOf<Four<float>> in_fours(const DiagonalOf<float>& diagonal) {
  return {in_fours(diagonal.values), diagonal.constant};
}

// The D^-1 of a preconditioner that has one, for passes over vectors of type T.
template <class T = double, class M>
TRIREME_HD DiagonalOf<T> inverse_diagonal_of(const M& m) {
  if constexpr (sizeof(T) == sizeof(float))
    return {m.in_fp32, m.inverse_diagonal.constant};
  else
    return m.inverse_diagonal;
}

// The D^-1 that the passes of a method with vectors of type T apply themselves; 1 if M is not
// pointwise.
template <class T = double, class M>
TRIREME_HD DiagonalOf<T> pointwise_part(const M& m) {
  if constexpr (M::pointwise)
    return inverse_diagonal_of<T>(m);
  else
    return {};
}

}  // namespace trireme::solvers
