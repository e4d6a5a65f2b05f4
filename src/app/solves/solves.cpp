// SPDX-License-Identifier: BSD-3-Clause
// Solves in rounds over the right-hand sides.
#include "app/solves/solves.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/ladder/rung_watch.hpp"
#include "app/solves/judging.hpp"
#include "app/solves/solve_parts.hpp"
#include "app/solves/strategies/in_blocks.hpp"
#include "app/solves/strategies/in_steps.hpp"
#include "app/solves/strategies/one_by_one.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

std::unique_ptr<SolveStrategy> strategy_for(SolveParts& parts, std::function<Plan()> make_plan) {
  if (parts.context.steps) return std::make_unique<InSteps>(parts, std::move(make_plan));
  const bool alone = parts.solutions.size() == 1 || parts.context.spec.solver.block == 1;
  if (alone) return std::make_unique<OneByOne>(parts);
  return std::make_unique<InBlocks>(parts);
}

// Whether a signal ended it.
bool solve_until_done(SolveParts& parts, SolveStrategy& strategy) {
  const SolveRecords& records = parts.records;
  Checkpointer& checkpointer = parts.checkpointer;
  bool signalled = false;
  while (parts.done < parts.wanted && !signalled) {
    const std::size_t k = static_cast<std::size_t>(parts.done) % parts.solutions.size();
    const bool may_end = k == 0 || parts.context.steps;
    if (may_end && !records.each_seconds.empty() && !records.verdict.converged) break;
    if (k == 0 && parts.done > checkpointer.solves_before()) checkpointer.begin_round(parts.done);
    if (checkpointer.is_solved(k) && take_over(parts, k)) continue;
    if (!strategy.solve(k)) break;
    // The next rung of `method: auto` begins with the right-hand side that has failed.
    if (!parts.context.last && !records.verdict.converged) break;
    if (parts.context.watch && parts.context.watch->leaves()) break;
    signalled = InterruptGuard::asked_anywhere(parts.context.matrix->comm);
  }
  strategy.end();
  return signalled;
}

void note_a_stop(SolveParts& parts) {
  Verdict& verdict = parts.records.verdict;
  if (verdict.converged)
    verdict = {.exit_code = ExitCode::not_converged,
               .text = "not converged: stopped by a signal between two solves",
               .reason = kKspStopped};
  verdict.text +=
      fmt::format("; the signal came in or after solve {} of {}", parts.done, parts.wanted);
}

// A rung of `method: auto` that is left between two solves has not solved all systems.
void note_a_rung_that_is_left(SolveParts& parts) {
  const RungWatch* const watch = parts.context.watch;
  if (!watch || !watch->leaves() || parts.done == parts.wanted) return;
  if (Verdict& verdict = parts.records.verdict; verdict.converged)
    verdict = {.exit_code = ExitCode::not_converged,
               .text = fmt::format("not converged: {}", watch->why()),
               .reason = KSP_DIVERGED_ITS};
}

RunOutcome outcome_of(SolveParts& parts, SolveStrategy& strategy) {
  RunOutcome o;
  SolveRecords& records = parts.records;
  const double seconds = records.seconds;
  records.fill(o, parts.context.steps != nullptr, parts.context.knows_solution());
  strategy.fill(o);
  const std::vector<std::string>& notes = parts.checkpointer.notes();
  o.notes.insert(o.notes.end(), notes.begin(), notes.end());
  if (const std::size_t solves = o.solve_seconds.size(); solves > 1)
    o.notes.push_back(
        fmt::format("{} solves, {:.3g} s each", solves, seconds / static_cast<double>(solves)));
  if (petsc_device_copies() && parts.plan.amat && parts.plan.amat->on_gpu())
    o.notes.push_back(fmt::format("PETSc copied {} vectors between host and GPU in {} iterations",
                                  records.copies, records.total_iterations));
  return o;
}

}  // namespace

KernelRun solve_all(const SolveContext& context, Plan& plan, std::function<Plan()> make_plan,
                    const IterationCallback& on_iteration, KernelTuning* tuning,
                    PreconditionerTuning* preconditioning) {
  SolveParts parts(context, plan, on_iteration, tuning, preconditioning);
  const std::unique_ptr<SolveStrategy> strategy = strategy_for(parts, std::move(make_plan));
  const bool signalled = solve_until_done(parts, *strategy);
  const bool stopped =
      parts.records.facts.stopped || (signalled && parts.done < parts.wanted);  // else all was done
  if (stopped) note_a_stop(parts);
  note_a_rung_that_is_left(parts);
  parts.checkpointer.end(parts.records.verdict.converged, stopped);
  KernelRun run;
  run.outcome = outcome_of(parts, *strategy);
  run.solutions = std::move(parts.solutions);
  if (context.steps)
    std::erase_if(run.solutions, [](const Array<double>& x) { return x.empty(); });
  else if (parts.done < std::ssize(run.solutions))
    run.solutions.resize(parts.done);
  return run;
}

}  // namespace trireme
