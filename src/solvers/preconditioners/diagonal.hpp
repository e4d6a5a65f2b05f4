// SPDX-License-Identifier: BSD-3-Clause
// A diagonal matrix as the passes of the solvers read it.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

// One number per row, or one number for all rows; then no array is read.
struct Diagonal {
  const double* values = nullptr;
  double constant = 1;
  TRIREME_HD double operator[](std::int64_t i) const { return values ? values[i] : constant; }
};

// The D^-1 that the passes of a method apply themselves; 1 if M is not pointwise.
template <class M>
TRIREME_HD Diagonal pointwise_part(const M& m) {
  if constexpr (M::pointwise)
    return m.inverse_diagonal;
  else
    return {};
}

}  // namespace trireme::solvers
