// SPDX-License-Identifier: BSD-3-Clause
// The steps of a sequence. Each brings its values and its right-hand side to the matrix and to the
// plan, and is solved from a guess that the steps before it give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/solves/renewal.hpp"
#include "app/solves/solve_parts.hpp"
#include "app/solves/strategies/one_by_one.hpp"
#include "app/solves/strategies/overlapped_steps.hpp"
#include "app/solves/strategies/solve_strategy.hpp"
#include "base/stopwatch.hpp"

namespace trireme {

class InSteps final : public SolveStrategy {
 public:
  // `parts` is for a sequence, and must outlive this. Where a step needs another plan, the plan of
  // `parts` is replaced by what make_plan() returns, and no tuning hears of the solves after that.
  // Collective.
  InSteps(SolveParts& parts, std::function<Plan()> make_plan);

  // An error in the data of a step after the first one is the verdict of the run, which ends there.
  bool solve(std::size_t k) override;
  void end() override;
  void fill(RunOutcome& outcome) override;

 private:
  // These bring matrix, right-hand side and plan to step k. False: the data of the step, or the
  // step before it, are at fault.
  bool go_to(std::size_t k);
  bool bring_data(std::size_t k, StepOutcome& step);
  bool bring_values(std::size_t k, StepOutcome& step);
  void give_up_plan();
  void rebuild(StepOutcome& step);
  // False: the step before step k has not converged.
  bool end_overlap(std::size_t k);
  void note(std::size_t k);

  // Of the present preconditioner.
  bool has_structure() const;  // whether a renewal keeps a part that was made for older values
  double seconds_of_building() const;

  SolveParts& parts_;
  Steps& steps_;
  std::function<Plan()> make_plan_;
  OneByOne one_by_one_;
  std::vector<StepOutcome> outcomes_;
  std::unique_ptr<OverlappedSteps> overlap_;  // null: the steps are solved one by one
  Renewal renewal_;
  std::int64_t scalings_ = 1;               // found, of the matrix that is scaled
  std::vector<std::size_t> poor_scalings_;  // the steps for which another one was found
  Stopwatch watch_;                         // since the last step began
  double read_seconds_;                     // of all steps
  Seconds of_former_plans_;                 // build, upload, setup
};

}  // namespace trireme
