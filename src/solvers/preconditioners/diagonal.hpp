// SPDX-License-Identifier: BSD-3-Clause
// A diagonal matrix as the passes of the solvers read it.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

// A number of a vector in FP32 or FP64, as passes compute with it.
TRIREME_HD double wide(double number) { return number; }
TRIREME_HD double wide(float number) { return static_cast<double>(number); }

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
