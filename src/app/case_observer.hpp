// SPDX-License-Identifier: BSD-3-Clause
// Who hears of a case while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace trireme {

// Called on rank 0 only, between products: an implementation returns quickly, does not communicate,
// and does not throw.
struct CaseObserver {
  virtual ~CaseObserver() = default;
  // What begins, in words: "reading cant.h5", "building albus".
  virtual void step_begins(std::string_view /*text*/) {}
  // The solves of run number `run` (from 0) begin. A case has one run per kernel and precision.
  virtual void run_begins(int /*run*/, std::string_view /*kernel*/) {}
  // Step number `step` (from 0) of `steps` begins. Only a case with problem.steps has steps.
  virtual void sequence_step(std::int64_t /*step*/, std::int64_t /*steps*/) {}
  // relative_residual: the norm that the solver tests, over ||b||. Iteration 0 comes first.
  virtual void iteration(int run, std::int64_t iteration, double relative_residual) = 0;
};

// The iterations of one run.
using IterationCallback = std::function<void(std::int64_t iteration, double relative_residual)>;

}  // namespace trireme
