// SPDX-License-Identifier: BSD-3-Clause
// The steps of a cycle on a GPU: one launch per step, or one launch for many steps of small levels.
#pragma once

#include <cstdint>

#include "device/stream.hpp"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cycle_step.hpp"

namespace trireme::multigrid {

// A step with all that a CUDA kernel needs. A null b stands for the caller's residual, and a null x,
// `to` or `kept` for the caller's result. Of a step `solve`, data.w is the dense inverse.
struct BoundStep {
  StepData data;
  RowsView matrix;
};

// The caller's vectors of one cycle.
struct CallersVectors {
  const double* r = nullptr;
  double* z = nullptr;
};

// Whether launch_step() may overlap with the end of the previous kernel on this GPU.
bool steps_may_overlap();

// Queues one step. Asynchronous in `stream`, which may be recorded into a CUDA graph.
void launch_step(BoundStep step, const CallersVectors& callers, bool overlap, StreamRef stream);

// The number of thread blocks of launch_together() on this GPU; 0 where the GPU does not offer it.
int blocks_together();
// Queues `count` steps, which are in GPU memory, as one cooperative kernel, whose blocks meet between
// two steps. The matrices of the steps have narrow columns. `arrivals` is a word of GPU memory that is
// 0 before and after.
void launch_together(const BoundStep* steps, int count, const CallersVectors& callers,
                     unsigned* arrivals, int blocks, StreamRef stream);

}  // namespace trireme::multigrid
