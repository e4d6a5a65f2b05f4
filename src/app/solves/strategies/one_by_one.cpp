// SPDX-License-Identifier: BSD-3-Clause
#include "app/solves/strategies/one_by_one.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "app/ladder/rung_watch.hpp"
#include "app/solves/judging.hpp"
#include "app/solves/strategies/meet_the_claim.hpp"
#include "base/stopwatch.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

OneByOne::OneByOne(SolveParts& parts) : parts_(parts) { take_plan(); }

void OneByOne::take_plan() {
  const Mat mat = parts_.plan.amat->mat();
  x_ = vector_over(values_of_x_, mat);
  b_ = vector_over(values_of_b_, mat);
}

void OneByOne::let_go_of_plan() {
  x_.reset();
  b_.reset();
}

bool OneByOne::solve(std::size_t k) {
  solve_from(guess_of(parts_.context, k), k, parts_.solves_after());
  return true;
}

OneByOne::Beginning OneByOne::solve_from(FirstGuess first, std::size_t k,
                                         std::int64_t solves_after) {
  KspSolver& solver = *parts_.plan.solver;
  SolveRecords& records = parts_.records;
  // In a sequence, the norm is taken from the solver where that measures the one of the problem.
  const bool by_solver = parts_.context.steps && !parts_.context.scaling &&
                         solver.engine() == Engine::resident && solver.measures_first_residual();
  const auto system = system_from(first, k, parts_, by_solver);
  set_local_values(b_, system->loop_b());
  if (first.nonzero)
    set_local_values(x_, system->loop_x0());
  else
    set_local_values_to_zero(x_);

  const std::int64_t before = parts_.checkpointer.iterations_before(k);
  solver.scale_tolerance(system->exponent, system->loop_norms());
  const ScaledSystem::Loop& loop = system->loop();
  KspResult result =
      run({.k = k,
           .solves_after = solves_after,
           .nonzero_guess = first.nonzero,
           .of_x = loop.of_x,
           .unit = loop.unit,
           .target = solver.loop_target(solver.reference(loop.unit, loop.first_norm))});
  trireme::meet_the_claim(parts_, k, *system, b_, x_, result);

  if (result.facts.dropped_norm >= 0) {
    records.add_worse_guess(k, first.name, relative(result.facts.dropped_norm, loop.unit));
    first = {};
  }
  const bool known = first.nonzero && by_solver && !result.residuals.empty();
  const double first_norm = known ? result.residuals.front() : system->first_norm;
  records.total_iterations += result.iterations - before;
  records.seconds += result.seconds;
  note_solve(parts_, k, *system, std::move(result), system->from_loop(local_values(x_)));
  return {.guess = first.name, .residual = relative(first_norm, system->unit)};
}

void OneByOne::meet_the_claim(std::size_t k, const ScaledSystem& system, KspResult& result,
                              Array<double>& x) {
  if (!parts_.context.scaling || !result.verdict.converged) return;
  set_local_values(b_, system.loop_b());
  set_local_values(x_, x);
  trireme::meet_the_claim(parts_, k, system, b_, x_, result);
  x = local_values(x_);
}

KspResult OneByOne::run(const Solve& what) {
  KspSolver& solver = *parts_.plan.solver;
  KernelTuning* const tuning = parts_.tuning;
  PreconditionerTuning* const preconditioning = parts_.preconditioning;
  RungWatch* const rung = parts_.context.watch;
  // PETSc's own loops count from 0 where they go on; the resident engine counts on.
  const std::int64_t uncounted =
      solver.engine() == Engine::resident ? 0 : parts_.checkpointer.iterations_before(what.k);
  if (tuning) tuning->solve_begins(parts_.solves_after());
  if (preconditioning) preconditioning->solve_begins(what.solves_after);
  if (rung) rung->solve_begins(what.solves_after);
  solver.monitor([=, this](std::int64_t iteration, double norm) {
    if (rung) rung->iteration(norm, what.target);
    if (tuning) tuning->iteration(iteration, norm, what.target);
    if (preconditioning) preconditioning->iteration(norm, what.target);
    if (parts_.on_iteration) parts_.on_iteration(uncounted + iteration, relative(norm, what.unit));
  });
  const std::optional<std::int64_t> copies_before = petsc_device_copies();
  if (parts_.context.clock) parts_.context.clock->iterations_begin();
  const Array<double> guess =
      preconditioning && what.nonzero_guess ? local_values(x_) : Array<double>();
  double failed_seconds = 0;
  KspResult result;
  for (;;) {
    const auto solution = [of_x = what.of_x, scaling = parts_.context.scaling](Vec x) {
      const Array<double> of_loop = local_values(x);
      return scaling ? scaling->from_columns(of_loop, of_x) : times_power_of_two(of_loop, of_x);
    };
    const auto guess_from = [of_x = what.of_x, scaling = parts_.context.scaling](
                                const Array<double>& x, Vec into) {
      set_local_values(into,
                       scaling ? scaling->to_columns(x, -of_x) : times_power_of_two(x, -of_x));
    };
    result = parts_.checkpointer.solve(solver, b_, x_,
                                       {.k = what.k,
                                        .nonzero_guess = what.nonzero_guess,
                                        .unit = what.unit,
                                        .solution = solution,
                                        .guess = guess_from,
                                        .interlude = interlude()});
    if (!preconditioning || !preconditioning->falls_back({&result, 1})) break;
    failed_seconds += result.seconds;
    parts_.checkpointer.forget(what.k);
    if (what.nonzero_guess)
      set_local_values(x_, guess);
    else
      set_local_values_to_zero(x_);
  }
  result.seconds += failed_seconds;
  if (tuning) tuning->solve_ends(result);
  if (preconditioning) preconditioning->solve_ends(result);
  if (rung) rung->solve_ends(result);
  if (copies_before) parts_.records.copies += *petsc_device_copies() - *copies_before;
  return result;
}

// Those of the kernel, the preconditioner and the rung of `method: auto`.
Interlude OneByOne::interlude() const {
  PreconditionerTuning* const preconditioning = parts_.preconditioning;
  RungWatch* const rung = parts_.context.watch;
  constexpr std::size_t kPreconditioner = 2;
  const std::array<Interlude, 3> all = {
      parts_.tuning ? parts_.tuning->interlude() : Interlude(),
      rung ? rung->interlude() : Interlude(),
      preconditioning ? preconditioning->interlude() : Interlude()};
  if (std::ranges::none_of(all, [](const Interlude& i) { return bool(i.due); })) return {};
  const auto asked = std::make_shared<unsigned>(0);
  const auto due = [=] {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k].due && all[k].due()) *asked |= 1U << k;
    return *asked != 0;
  };
  const auto run = [=, comm = parts_.context.matrix->comm] {
    unsigned now = std::exchange(*asked, 0);
    MPI_Bcast(&now, 1, MPI_UNSIGNED, 0, comm);
    After after = After::go_on;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if ((now >> k & 1U) == 0 || after == After::leave) continue;
      const Stopwatch watch;
      after = std::max(after, all[k].run());
      if (preconditioning && k != kPreconditioner) preconditioning->paused(watch.seconds());
      if (rung) rung->paused(watch.seconds());
    }
    return after;
  };
  return {due, run};
}

}  // namespace trireme
