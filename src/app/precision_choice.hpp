// SPDX-License-Identifier: BSD-3-Clause
// precision: auto.
#pragma once

#include "app/run_kernel.hpp"

namespace trireme {

// Whether a run of this kernel, whose loop begins with this preconditioner, is to have its vectors
// and values in FP32: on one GPU, for a method and a preconditioner that can, where FP32 has the
// range of the values, rtol is in reach, the vectors are what a loop waits for, and the memory
// suffices. What does not get on in FP32 goes on in FP64 by itself. Collective.
bool serves_in_fp32(const SolveContext& context, const KernelChoice& kernel,
                    const AnyPreconditioner& preconditioner);

}  // namespace trireme
