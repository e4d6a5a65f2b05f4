// SPDX-License-Identifier: BSD-3-Clause
// The magnitude up to which the values of a matrix are usual.
#pragma once

namespace trireme {

// Far above what is usual in matrices, and far from overflow. Readers look for larger values while
// they look for those that are not finite.
inline constexpr double kUsualMagnitude = 0x1p100;

}  // namespace trireme
