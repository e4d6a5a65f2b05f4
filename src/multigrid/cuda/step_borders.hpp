// SPDX-License-Identifier: BSD-3-Clause
// What the steps of a cycle need of other ranks, on the levels whose rows lie on several ranks. A
// step of such a level is the sweep over the matrix of this rank, with work before and after it.
#pragma once

#include "device/stream.hpp"
#include "multigrid/cuda/cuda_steps.hpp"
#include "multigrid/cycle/cycle_program.hpp"

namespace trireme::multigrid {

class StepBorders {
 public:
  StepBorders() = default;
  StepBorders(const StepBorders&) = delete;
  StepBorders& operator=(const StepBorders&) = delete;
  virtual ~StepBorders() = default;

  // The number of levels on several ranks, the finest ones.
  virtual int levels() const = 0;
  // May give the result of a step another address. Called once per step of these levels, in their
  // order, before the steps are queued.
  virtual void bind(const CycleStep& step, BoundStepOf<float>& bound) = 0;
  virtual void bind(const CycleStep& step, BoundStepOf<double>& bound) = 0;
  // Queues the replacement of exponent->found by its maximum over the ranks. `rows` are those of
  // the finest level on this rank; without any, the exponent here counts as 0. Collective.
  virtual void agree_on(CycleExponent* exponent, std::int64_t rows, StreamRef stream) = 0;
  // Queue the work before and after a step of these levels that has a matrix. `exponent` is null
  // for vectors that are not scaled. Collective.
  virtual void before(const CycleStep& step, const BoundStepOf<float>& bound, StreamRef stream) = 0;
  virtual void before(const CycleStep& step, const BoundStepOf<double>& bound,
                      StreamRef stream) = 0;
  virtual void after(const CycleStep& step, const BoundStepOf<float>& bound,
                     const CallersVectors& callers, const CycleExponent* exponent,
                     StreamRef stream) = 0;
  virtual void after(const CycleStep& step, const BoundStepOf<double>& bound,
                     const CallersVectors& callers, const CycleExponent* exponent,
                     StreamRef stream) = 0;
};

}  // namespace trireme::multigrid
