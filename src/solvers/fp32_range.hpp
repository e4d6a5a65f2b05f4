// SPDX-License-Identifier: BSD-3-Clause
// Which numbers FP32 keeps with its full precision.
#pragma once

#include "solvers/state.hpp"

namespace trireme {

// Whether the number is 0, or a normal number of FP32 once it is rounded.
TRIREME_HD bool is_normal_in_fp32(double value) {
  constexpr double kLeast = 0x1p-126, kMost = 0x1.fffffep127;  // of FP32
  const double size = value < 0 ? -value : value;
  return value == 0 || (size >= kLeast && size <= kMost);
}

}  // namespace trireme
