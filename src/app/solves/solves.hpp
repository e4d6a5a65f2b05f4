// SPDX-License-Identifier: BSD-3-Clause
// All solves of one kernel, by the strategy that the case asks for (strategies/):
//
//   one_by_one        one right-hand side after another
//   in_blocks         several right-hand sides at once
//   in_steps          the steps of a sequence
//   overlapped_steps  the steps of a sequence on one GPU, within in_steps
#pragma once

#include <functional>

#include "app/run_kernel.hpp"
#include "app/solves/plan.hpp"

namespace trireme {

// Solves every right-hand side `repeat` times, or each step of a sequence once, until a signal or a
// round or a step that has not converged. An error in the data of a step after the first one ends
// the run with the solutions so far, and is the outcome's reason. Of the outcome, fills in what the
// solves decide.
//
// Where a step of a sequence needs another plan, `plan` is replaced by what make_plan() returns.
// `tuning` and `preconditioning`, which may be null, are told of each solve and may change the
// kernel and the preconditioner of the plan, until the plan is replaced. Collective.
KernelRun solve_all(const SolveContext& context, Plan& plan, std::function<Plan()> make_plan,
                    const IterationCallback& on_iteration, KernelTuning* tuning = nullptr,
                    PreconditionerTuning* preconditioning = nullptr);

}  // namespace trireme
