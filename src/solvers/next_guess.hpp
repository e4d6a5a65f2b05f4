// SPDX-License-Identifier: BSD-3-Clause
// The first guess of a step of a sequence, in device memory. This header compiles without CUDA.
#pragma once

#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme::solvers {

// With the last solution in x and the one before in `older`: x becomes 2 x - older, the line
// through both, and `older` becomes the last solution. One pass, which moves 32 bytes per row.
// Queued in `stream`. Throws Error{resource} in a build without CUDA.
void extrapolate(DeviceSpan<double> x, DeviceSpan<double> older, StreamRef stream);

}  // namespace trireme::solvers
