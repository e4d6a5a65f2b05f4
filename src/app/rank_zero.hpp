// SPDX-License-Identifier: BSD-3-Clause
// The observer of a case, on the rank that has one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>

#include "app/case_observer.hpp"
#include "parallel/collective.hpp"

namespace trireme {

// Hands everything on to the observer on rank 0, and nothing on the other ranks.
class RankZero {
 public:
  // `observer` may be null.
  RankZero(MPI_Comm comm, CaseObserver* observer)
      : observer_(rank_of(comm) == 0 ? observer : nullptr) {}
  void step_begins(const std::string& text) const {
    if (observer_) observer_->step_begins(text);
  }
  void run_begins(int run, const std::string& kernel) const {
    if (observer_) observer_->run_begins(run, kernel);
  }
  std::function<void(std::int64_t, std::int64_t)> sequence_steps() const {
    if (!observer_) return {};
    return [observer = observer_](std::int64_t step, std::int64_t steps) {
      observer->sequence_step(step, steps);
    };
  }
  IterationCallback iterations_of(int run) const {
    if (!observer_) return {};
    return [observer = observer_, run](std::int64_t iteration, double residual) {
      observer->iteration(run, iteration, residual);
    };
  }

 private:
  CaseObserver* observer_;
};

}  // namespace trireme
