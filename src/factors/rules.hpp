// SPDX-License-Identifier: BSD-3-Clause
// What the numbers of incomplete factors follow on the host and on GPUs.
#pragma once

#include "solvers/state.hpp"

namespace trireme::factors {

// A pivot below this part of the largest entry of its row of A is replaced.
inline constexpr double kLeastPivot = 0x1p-20;
// By this part of it, of the same sign.
inline constexpr double kPivotInstead = 0x1p-10;

// Parts of the diagonal that are added to it where a pivot is not positive, one after the other.
// Beyond the last one, pivots are replaced. So is, from the beginning, a pivot as small as rounding
// without entries to its right, which changes no other row: the last one of a singular matrix, such
// as one whose null space is that of the constants.
inline constexpr double kFirstShift = 0x1p-10, kMostShift = 0x1p+2;
constexpr double next_shift(double shift) { return shift > 0 ? 2 * shift : kFirstShift; }

// Whether a pivot serves; `largest` is the magnitude of the largest entry of the row of A.
TRIREME_HD bool serves(double pivot, double largest) {
  return (pivot < 0 ? -pivot : pivot) > kLeastPivot * largest && pivot - pivot == 0;
}

// For a row of zeros it is 1.
TRIREME_HD double pivot_instead(double pivot, double largest) {
  const double size = largest > 0 ? kPivotInstead * largest : 1.0;
  return pivot < 0 ? -size : size;
}

}  // namespace trireme::factors
