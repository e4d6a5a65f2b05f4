// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi on the device: extracts the diagonal blocks of a CSR and inverts them there.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace trireme::solvers {

// The inverse blocks in device memory, in the layout of BlockJacobi::inverse. The blocks are taken
// from `entries`, in the layout of PreconditionerSpec::blocks, or from `csr` if `entries` is empty.
// Waits for `stream`. Throws Error{input} that names the first row of the first singular block.
DeviceBuffer<double> invert_blocks_on_device(const BlockRows& blocks, const DeviceCsr<double>& csr,
                                             DeviceSpan<const double> entries, StreamRef stream);

}  // namespace trireme::solvers
