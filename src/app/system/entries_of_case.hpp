// SPDX-License-Identifier: BSD-3-Clause
// What the runs of a case read of the matrix in GPU memory.
#pragma once

#include "config/case.hpp"
#include "distributed/device_blocks.hpp"

namespace trireme {

// Whether kernels and preconditioners of the case read the entries of the matrix on the GPU.
// `kernel: auto` begins with a kernel that does not.
Entries entries_for(const Case& c);

}  // namespace trireme
