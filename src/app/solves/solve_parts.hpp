// SPDX-License-Identifier: BSD-3-Clause
// What all strategies of solving share: the case, the plan, and what came of the solves so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/run_kernel.hpp"
#include "app/solves/advice.hpp"
#include "app/solves/checkpointer.hpp"
#include "app/solves/kernel_tuning.hpp"
#include "app/solves/plan.hpp"
#include "app/solves/preconditioner_tuning.hpp"
#include "app/solves/solve_records.hpp"

namespace trireme {

struct SolveParts {
  // All references must outlive this. Collective.
  SolveParts(const SolveContext& of, Plan& with, const IterationCallback& callback,
             KernelTuning* kernels = nullptr, PreconditionerTuning* preconditioners = nullptr)
      : context(of),
        plan(with),
        on_iteration(callback),
        tuning(kernels),
        preconditioning(preconditioners),
        solutions(of.systems()),
        records(of.systems(), !of.steps && of.systems() > 1),
        checkpointer(of.matrix->comm, of.checkpoints, with.solver->engine(), solutions),
        wanted(static_cast<std::int64_t>(of.systems()) * (of.steps ? 1 : of.spec.repeat)),
        done(checkpointer.solves_before()) {}

  // How many solves follow the one that begins.
  std::int64_t solves_after() const { return wanted - done - 1; }

  const SolveContext& context;
  Plan& plan;
  const IterationCallback& on_iteration;
  // Hear of each solve, and may change the kernel and the preconditioner of the plan. Null: nobody
  // does.
  KernelTuning* tuning;
  PreconditionerTuning* preconditioning;
  std::vector<Array<double>> solutions;  // the latest of each right-hand side or step
  SolveRecords records;
  Checkpointer checkpointer;  // refers to `solutions`
  std::int64_t wanted;        // solves
  std::int64_t done;          // of these, with those of earlier runs
};

}  // namespace trireme
