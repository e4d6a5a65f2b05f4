// SPDX-License-Identifier: BSD-3-Clause
// precision: auto.
#pragma once

#include "app/run_kernel.hpp"

namespace trireme {

// Whether a run of this kernel is to have the vectors of its loop and the values in FP32: on GPUs,
// with a method and a preconditioner that the case names and that can, where FP32 has the range of
// the values, rtol is in reach, the vectors are what a loop waits for, and the memory suffices; on
// several GPUs for one system at a time. (`preconditioner: auto` may come to multigrid, which gains
// nothing.) What does not get on in FP32 goes on in FP64 by itself. The same on every rank.
// Collective.
bool serves_in_fp32(const SolveContext& context, const KernelChoice& kernel);

}  // namespace trireme
