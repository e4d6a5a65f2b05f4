// SPDX-License-Identifier: BSD-3-Clause
// The steps of a cycle on a GPU, one launch each.
#pragma once

#include <cstdint>

#include "device/stream.hpp"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cycle/cycle_step.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::multigrid {

// A step with all that a CUDA kernel needs. Of a step `solve`, data.w is the dense inverse. Vectors
// and a diagonal W have room for a multiple of four rows and begin at multiples of 16 bytes.
template <class Number>
struct BoundStepOf {
  StepDataOf<Number> data;
  RowsView matrix;
};
using BoundStep = BoundStepOf<double>;

// The caller's vectors of one cycle.
struct CallersVectors {
  const double* r = nullptr;
  double* z = nullptr;
  solvers::LoopHints hints;
};

// The exponent of the largest number of the caller's r, in GPU memory.
struct CycleExponent {
  std::int32_t found = 0;  // 0 before and after a cycle
  std::int32_t used = 0;   // by the cycle that runs
};

// Whether launch_step() may overlap with the end of the previous kernel on this GPU.
bool steps_may_overlap();

// The following functions are asynchronous in `stream`, which may be recorded into a CUDA graph.

// Finds exponent->found of r.
void launch_find_exponent(const double* r, std::int64_t rows, CycleExponent* exponent,
                          StreamRef stream);
// Queues one step. With `exponent`, the step `take` divides r by a power of two, that of the norm
// in the hints or else exponent->found, and writes exponent->used; the step that writes the
// caller's result multiplies by it. A step whose cycle is not needed does nothing.
template <class Number>
void launch_step(BoundStepOf<Number> step, const CallersVectors& callers, CycleExponent* exponent,
                 bool overlap, StreamRef stream);

}  // namespace trireme::multigrid
