// SPDX-License-Identifier: BSD-3-Clause
// Reads and checks a row of a level, as a functor for a place.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

struct ReadDiagonal {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  double* diagonal;

  // Whether the row is unfit. x - x is 0 for finite x only, and a sum with NaN is NaN.
  TRIREME_HD bool operator()(std::int64_t i) const {
    double d = 0, doubt = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] == i) d += values[k];
      doubt += values[k] - values[k];
    }
    diagonal[i] = d;
    return d == 0 || doubt != 0;
  }
};

}  // namespace trireme::multigrid
