// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the diagonal of a CSR on the device, for Jacobi. This header compiles without
// CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/blocked_device_csr.hpp"

namespace trireme::solvers {

// inverse[i] = 1 / a_ii, or 1 / |a_ii| with `magnitudes`, where duplicates are added up and a zero
// counts as 1. `inverse` has one number per row. Returns the number of zeros. Waits for `stream`.
// Throws Error{resource} in a build without CUDA.
std::int64_t invert_diagonal_on_device(std::span<const DeviceRowBlock<double>> blocks,
                                       DeviceSpan<double> inverse, bool magnitudes,
                                       StreamRef stream);

}  // namespace trireme::solvers
