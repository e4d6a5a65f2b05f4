// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi on the device: the diagonal blocks of a CSR taken out and inverted there.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace trireme::solvers {

// The inverse blocks as BlockJacobi::inverse holds them, in device memory. The blocks are those of
// `csr`, or of `entries` (as PreconditionerSpec::blocks) where `entries` is not empty. Waits for
// `stream`. Throws Error{input} that names the first row of the first singular block.
DeviceBuffer<double> invert_blocks_on_device(const BlockRows& blocks, const DeviceCsr<double>& csr,
                                             DeviceSpan<const double> entries, StreamRef stream);

}  // namespace trireme::solvers
