// SPDX-License-Identifier: BSD-3-Clause
// What the rows of an approximate inverse follow on the host and on GPUs.
#pragma once

#include <cstdint>

namespace trireme::inverses {

inline constexpr std::int32_t kEntriesPerStep = 3;
inline constexpr std::int32_t kMostSteps = 40;
// Of a matrix whose diagonal is 1. Below it, a pivot is as much rounding as number.
inline constexpr double kLeastPivot = 1e-10;
// An entry comes in if it alone reduces d, or the squared norm of a residual, by this part.
inline constexpr double kLeastGain = 1e-3;
// Of the squared norm of the residual of a row: it grows no further.
inline constexpr double kSmallResidual = 0.04;
// The rows that candidates are looked for in are read up to so many entries, the first ones and the
// last ones, so that a dense row does not make the search quadratic.
inline constexpr std::int32_t kLongRow = 512;

}  // namespace trireme::inverses
