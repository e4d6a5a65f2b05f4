// SPDX-License-Identifier: BSD-3-Clause
// The steps of a sequence on one GPU while their surroundings run beside them (step_overlap.hpp).
// b and x stay on the GPU. The verdict on a step that seems to have converged is pending while the
// next step is solved.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/solves/solve_parts.hpp"
#include "app/solves/step_overlap.hpp"
#include "app/solves/strategies/one_by_one.hpp"
#include "app/solves/true_residual.hpp"

namespace trireme {

class OverlappedSteps {
 public:
  // Where an overlap is possible at step 0; else null. `outcomes` has the steps that have begun.
  // The references must outlive the object.
  static std::unique_ptr<OverlappedSteps> begin(SolveParts& parts, OneByOne& one_by_one,
                                                std::vector<StepOutcome>& outcomes);
  OverlappedSteps(SolveParts& parts, OneByOne& one_by_one, std::vector<StepOutcome>& outcomes);

  // Step k, whose values are in place, begins, and work for the next one begins beside it. False:
  // its right-hand side needs end().
  bool begin_step(std::size_t k);
  // The solution of step 0, which is not solved by solve().
  void begin_with(std::span<const double> x) { overlap_.begin_with(x); }
  // Solves step k > 0. False: step k - 1 has not converged, and step k was dropped.
  bool solve(std::size_t k);

  bool is_pending() const { return pending_.has_value(); }  // the verdict on the last step
  // Decides on that verdict where no other thread does, and leaves the x of the step in the
  // solutions. False: the step has not converged.
  bool settle_now();
  // Comes before the solve of step k, which is solved without overlap: the same, and leaves there
  // what guesses need.
  bool end(std::size_t k);

 private:
  struct Pending {
    std::size_t k;
    Verdict verdict;
    TrueResidual residual;  // but for its norm
  };
  bool settle(const Residual& residual);  // decides on pending_

  SolveParts& parts_;
  Steps& steps_;
  OneByOne& one_by_one_;
  std::vector<StepOutcome>& outcomes_;
  StepOverlap overlap_;
  std::optional<Pending> pending_;
};

}  // namespace trireme
