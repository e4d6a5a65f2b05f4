// SPDX-License-Identifier: BSD-3-Clause
// Solves in rounds over the right-hand sides.
#include "app/solves/solves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/system/system_scale.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

std::int64_t solves_of(const SolveContext& context) {
  if (context.steps) return context.steps->count();
  return context.spec.repeat * std::ssize(context.problem.rhs);
}

std::size_t columns_of(const SolveContext& context) {
  return context.steps ? static_cast<std::size_t>(context.steps->count())
                       : context.problem.rhs.size();
}

}  // namespace

Solves::ScaledSystem::ScaledSystem(const Solves& solves, std::size_t k, std::span<const double> x)
    : exponent(right_hand_side_exponent(solves.context_.matrix->comm, solves.rhs(k), x,
                                        solves.matrix_exponent())),
      of_x(exponent - solves.matrix_exponent()),
      b(solves.rhs(k), -exponent),
      x0(x, -of_x),
      rhs_norm(solves.context_.plain.norm(b.values())) {}

void Solves::ScaledSystem::measure(const Solves& solves, bool nonzero_guess) {
  first_norm =
      nonzero_guess ? solves.context_.plain.residual_norm(b.values(), x0.values()) : rhs_norm;
  unit = rhs_norm > 0 ? rhs_norm : first_norm;
}

Solves::Solves(const SolveContext& context, Plan& plan, std::function<Plan()> make_plan,
               const IterationCallback& on_iteration, KernelTuning* tuning,
               PreconditionerTuning* preconditioning)
    : context_(context),
      plan_(plan),
      make_plan_(std::move(make_plan)),
      on_iteration_(on_iteration),
      tuning_(tuning),
      preconditioning_(preconditioning),
      solutions_(columns_of(context)),
      records_(columns_of(context), !context.steps && columns_of(context) > 1),
      block_width_(context, plan, columns_of(context)),
      wanted_(solves_of(context)) {
  make_vectors();
  checkpointer_.emplace(context.matrix->comm, context.checkpoints, plan.solver->engine(),
                        solutions_);
  if (context.steps) {
    renewal_.emplace(context.spec.solver.renew, seconds_of_building(), has_structure());
    read_seconds_ = context.steps->read_seconds();
  }
}

void Solves::make_vectors() {
  x_ = vector_over(values_of_x_, plan_.amat->mat());
  b_ = vector_over(values_of_b_, plan_.amat->mat());
}

// Whether a renewal of the preconditioner keeps a part that was made for older values.
bool Solves::has_structure() const { return plan_.solver->has_multigrid(); }

double Solves::setup_seconds() const {
  return max_over_ranks(context_.matrix->comm, plan_.solver->setup_seconds());
}

// The same, with what reading a hierarchy of an earlier run saved.
double Solves::seconds_of_building() const {
  return max_over_ranks(context_.matrix->comm,
                        plan_.solver->setup_seconds() + plan_.solver->saved_seconds());
}

const Array<double>& Solves::rhs(std::size_t k) const {
  return context_.steps ? context_.steps->rhs() : context_.problem.rhs[k];
}

int Solves::matrix_exponent() const {
  return context_.steps ? context_.steps->matrix_exponent() : context_.matrix_exponent;
}

KernelRun Solves::all() {
  const bool signalled = solve_until_done();
  const bool stopped =
      records_.facts.stopped || (signalled && count_ < wanted_);  // else all was done
  if (stopped) note_a_stop();
  checkpointer_->end(records_.verdict.converged, stopped);
  KernelRun run;
  fill(run.outcome);
  if (context_.steps)
    std::erase_if(solutions_, [](const Array<double>& x) { return x.empty(); });
  else if (count_ < std::ssize(solutions_))
    solutions_.resize(count_);
  run.solutions = std::move(solutions_);
  return run;
}

bool Solves::solve_until_done() {
  const std::size_t columns = solutions_.size();
  count_ = checkpointer_->solves_before();
  bool signalled = false;
  while (count_ < wanted_ && !signalled) {
    const std::size_t k = static_cast<std::size_t>(count_) % columns;
    const bool round_begins = k == 0;
    const bool may_end = round_begins || context_.steps;
    if (may_end && !records_.each_seconds.empty() && !records_.verdict.converged) break;
    if (round_begins && count_ > checkpointer_->solves_before()) checkpointer_->begin_round(count_);
    if (checkpointer_->is_solved(k) && take_over(k)) continue;
    if (context_.steps && !go_to_step(k)) break;
    if (const std::size_t count = columns_at_once(k); count > 1)
      solve_block(k, count);
    else
      solve(k);
    if (unconfirmed_) break;
    if (context_.steps) end_step(k);
    signalled = InterruptGuard::asked_anywhere(context_.matrix->comm);
  }
  settle_now();
  if (!steps_.empty()) steps_.back().seconds += step_watch_.seconds();
  return signalled;
}

void Solves::solve(std::size_t k) {
  if (overlap_ && k > 0) return solve_overlapped(k);
  KspSolver& solver = *plan_.solver;
  FirstGuess first = guess(k);
  // In a sequence, the norm is taken from the solver where that measures it.
  const bool by_solver =
      context_.steps && solver.engine() == Engine::resident && solver.measures_first_residual();
  std::optional<ScaledSystem> made;
  make_system(made, k, first, by_solver);
  const ScaledSystem& system = *made;
  set_local_values(b_, system.b.values());
  if (first.nonzero)
    set_local_values(x_, system.x0.values());
  else
    set_local_values_to_zero(x_);

  const double target =
      std::max(solver.rtol() * solver.reference(system.unit, system.first_norm), solver.atol());
  const std::int64_t before = checkpointer_->iterations_before(k);
  solver.scale_tolerance(system.exponent);
  KspResult result = run_solver(k, system.of_x, first.nonzero, system.unit, target);

  if (result.facts.dropped_norm >= 0) {
    records_.add_worse_guess(k, first.name, relative(result.facts.dropped_norm, system.unit));
    first = {};
  }
  if (context_.steps) {
    const bool known = first.nonzero && by_solver && !result.residuals.empty();
    steps_.back().guess = first.name;
    steps_.back().guess_residual =
        relative(known ? result.residuals.front() : system.first_norm, system.unit);
  }
  records_.total_iterations += result.iterations - before;
  records_.seconds += result.seconds;
  note(k, system, std::move(result), local_values(x_));
}

Interlude Solves::interlude() const {
  Interlude kernels = tuning_ ? tuning_->interlude() : Interlude();
  Interlude preconditioners = preconditioning_ ? preconditioning_->interlude() : Interlude();
  if (!preconditioners.due) return kernels;
  if (!kernels.due) return preconditioners;
  struct Asked {
    int kernels = 0, preconditioners = 0;
  };
  const auto asked = std::make_shared<Asked>();
  const auto due = [=] {
    asked->kernels |= kernels.due() ? 1 : 0;
    asked->preconditioners |= preconditioners.due() ? 1 : 0;
    return asked->kernels != 0 || asked->preconditioners != 0;
  };
  const auto run = [=, this] {
    Asked now = std::exchange(*asked, {});
    MPI_Bcast(&now, 2, MPI_INT, 0, context_.matrix->comm);
    const Stopwatch watch;
    if (now.kernels != 0) kernels.run();
    preconditioning_->paused(watch.seconds());
    return now.preconditioners != 0 && preconditioners.run();
  };
  return {due, run};
}

// How many solves follow the one that begins, in units of a solve by itself.
std::int64_t Solves::solves_ahead() const {
  const std::int64_t ahead = wanted_ - count_ - 1;
  return block_width_.is_expected() ? ahead / kColumnsPerSolve : ahead;
}

KspResult Solves::run_solver(std::size_t k, int of_x, bool nonzero_guess, double unit,
                             double target) {
  KspSolver& solver = *plan_.solver;
  // PETSc's own loops count from 0 where they go on; the resident engine counts on.
  const std::int64_t uncounted =
      solver.engine() == Engine::resident ? 0 : checkpointer_->iterations_before(k);
  if (tuning_) tuning_->solve_begins(wanted_ - count_ - 1);
  if (preconditioning_) preconditioning_->solve_begins(solves_ahead());
  solver.monitor([&](std::int64_t iteration, double norm) {
    if (tuning_) tuning_->iteration(iteration, norm, target);
    if (preconditioning_) preconditioning_->iteration(norm, target);
    if (on_iteration_) on_iteration_(uncounted + iteration, relative(norm, unit));
  });
  const std::optional<std::int64_t> copies_before = petsc_device_copies();
  if (context_.clock) context_.clock->iterations_begin();
  const Array<double> guess =
      preconditioning_ && nonzero_guess ? local_values(x_) : Array<double>();
  double failed_seconds = 0;
  KspResult result;
  for (;;) {
    result = checkpointer_->solve(
        solver, b_, x_,
        {.k = k,
         .nonzero_guess = nonzero_guess,
         .unit = unit,
         .solution = [of_x](Vec x) { return times_power_of_two(local_values(x), of_x); },
         .guess = [of_x](const Array<double>& x,
                         Vec into) { set_local_values(into, Scaled(x, -of_x).values()); },
         .interlude = interlude()});
    if (!preconditioning_ || !preconditioning_->falls_back({&result, 1})) break;
    failed_seconds += result.seconds;
    checkpointer_->forget(k);
    if (nonzero_guess)
      set_local_values(x_, guess);
    else
      set_local_values_to_zero(x_);
  }
  result.seconds += failed_seconds;
  if (tuning_) tuning_->solve_ends(result);
  if (preconditioning_) preconditioning_->solve_ends(result);
  if (copies_before) copies_ += *petsc_device_copies() - *copies_before;
  return result;
}

void Solves::note(std::size_t k, const ScaledSystem& system, KspResult result, Array<double> x) {
  const Problem& problem = context_.problem;
  TrueResidual residual = judged(system, x);
  if (!result.residuals.empty()) residual.last_norm = result.residuals.back();
  confirm(result.verdict, *plan_.solver, residual);
  records_.add_rows(residual);
  if (!result.verdict.converged && !result.facts.stopped) explain(result, system, residual);
  if (context_.steps) {
    if (context_.steps->solution_is_one())
      records_.errors[k] = error(x, Array<double>(x.size(), 1.0));
  } else if (!problem.x_exact.empty()) {
    records_.errors[k] = error(x, problem.x_exact[k]);
  }
  const Verdict verdict = result.verdict;
  solutions_[k] = std::move(x);
  record(k, std::move(result), relative(residual.norm, system.unit), system.unit);
  records_.add_exponent(system.exponent);
  if (records_.columns.empty()) return;
  records_.columns[k] = {.iterations = records_.iterations,
                         .converged = verdict.converged,
                         .reason = verdict.text,
                         .relative_residual = records_.residuals[k],
                         .relative_row_residual = residual.rows.of_rows,
                         .history = records_.history};
  if (!problem.x_exact.empty()) records_.columns[k].relative_error = records_.errors[k];
}

void Solves::record(std::size_t k, KspResult&& result, double relative_residual, double unit) {
  checkpointer_->solved(k, result);
  ++count_;
  records_.add(k, std::move(result), relative_residual, unit);
}

void Solves::note_a_stop() {
  if (records_.verdict.converged)
    records_.verdict = {.exit_code = ExitCode::not_converged,
                        .text = "not converged: stopped by a signal between two solves",
                        .reason = kKspStopped};
  records_.verdict.text +=
      fmt::format("; the signal came in or after solve {} of {}", count_, wanted_);
}

void Solves::fill(RunOutcome& o) {
  const bool known =
      context_.steps ? context_.steps->solution_is_one() : !context_.problem.x_exact.empty();
  const double seconds = records_.seconds;
  o.seconds = of_former_plans_;
  o.seconds.read = read_seconds_;
  for (const StepOutcome& step : steps_) o.seconds.renew += step.renew_seconds;
  records_.fill(o, context_.steps != nullptr, known);
  note_steps(o);
  o.steps = std::move(steps_);
  o.block = std::max<std::int64_t>(1, widest_block_);
  if (std::string note = block_width_.take_note(); !note.empty())
    o.notes.push_back(std::move(note));
  o.notes.insert(o.notes.end(), checkpointer_->notes().begin(), checkpointer_->notes().end());
  if (const std::size_t solves = o.solve_seconds.size(); solves > 1)
    o.notes.push_back(
        fmt::format("{} solves, {:.3g} s each", solves, seconds / static_cast<double>(solves)));
  if (petsc_device_copies() && plan_.amat->on_gpu())
    o.notes.push_back(fmt::format("PETSc copied {} vectors between host and GPU in {} iterations",
                                  copies_, records_.total_iterations));
}

double Solves::error(std::span<const double> x, std::span<const double> exact) const {
  Array<double> difference(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - exact[i];
  return relative(context_.plain.norm(difference), context_.plain.norm(exact));
}

}  // namespace trireme
