// SPDX-License-Identifier: BSD-3-Clause
// Solves in rounds over the right-hand sides.
#include "app/solves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/system_scale.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

// NaN is the largest.
double largest(const std::vector<double>& values) {
  double max = 0;
  for (const double value : values) max = std::isnan(max) || max > value ? max : value;
  return max;
}

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
      residuals_(columns_of(context)),
      errors_(columns_of(context)),
      columns_(context.steps || columns_of(context) < 2 ? 0 : columns_of(context)),
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
  const bool stopped = facts_.stopped || (signalled && count_ < wanted_);  // else all was done
  if (stopped) note_a_stop();
  checkpointer_->end(verdict_.converged, stopped);
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
    if (may_end && !each_seconds_.empty() && !verdict_.converged) break;
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
    note_worse_guess(k, first.name, relative(result.facts.dropped_norm, system.unit));
    first = {};
  }
  if (context_.steps) {
    const bool known = first.nonzero && by_solver && !result.residuals.empty();
    steps_.back().guess = first.name;
    steps_.back().guess_residual =
        relative(known ? result.residuals.front() : system.first_norm, system.unit);
  }
  total_iterations_ += result.iterations - before;
  seconds_ += result.seconds;
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
  note_rows(residual);
  if (!result.verdict.converged && !result.facts.stopped) explain(result, system, residual);
  if (context_.steps) {
    if (context_.steps->solution_is_one()) errors_[k] = error(x, Array<double>(x.size(), 1.0));
  } else if (!problem.x_exact.empty()) {
    errors_[k] = error(x, problem.x_exact[k]);
  }
  const Verdict verdict = result.verdict;
  solutions_[k] = std::move(x);
  record(k, std::move(result), relative(residual.norm, system.unit), system.unit);
  if (system.exponent != 0) rhs_exponent_ = system.exponent;
  if (columns_.empty()) return;
  columns_[k] = {.iterations = iterations_,
                 .converged = verdict.converged,
                 .reason = verdict.text,
                 .relative_residual = residuals_[k],
                 .relative_row_residual = residual.rows.of_rows,
                 .history = history_};
  if (!problem.x_exact.empty()) columns_[k].relative_error = errors_[k];
}

void Solves::record(std::size_t k, KspResult&& result, double relative_residual, double unit) {
  if (each_seconds_.empty() || (verdict_.converged && !result.verdict.converged))
    verdict_ = result.verdict;
  residuals_[k] = relative_residual;
  facts_ = result.facts;
  iterations_ = result.iterations;
  each_seconds_.push_back(result.seconds);
  ++count_;
  history_ = std::move(result.residuals);
  for (double& norm : history_) norm = relative(norm, unit);
  checkpointer_->solved(k, result);
}

void Solves::note_a_stop() {
  if (verdict_.converged)
    verdict_ = {.exit_code = ExitCode::not_converged,
                .text = "not converged: stopped by a signal between two solves",
                .reason = kKspStopped};
  verdict_.text += fmt::format("; the signal came in or after solve {} of {}", count_, wanted_);
}

void Solves::fill(RunOutcome& o) {
  o.converged = verdict_.converged;
  o.exit_code = verdict_.exit_code;
  o.reason = verdict_.text;
  o.petsc_reason = static_cast<int>(verdict_.reason);
  o.iterations = iterations_;
  o.relative_residual = largest(residuals_);
  o.relative_row_residual = row_residual_;
  if (o.converged && !row_note_.empty()) o.notes.push_back(row_note_);
  const bool known =
      context_.steps ? context_.steps->solution_is_one() : !context_.problem.x_exact.empty();
  if (known) o.relative_error = largest(errors_);
  o.seconds = of_former_plans_;
  o.seconds.read = read_seconds_;
  for (const StepOutcome& step : steps_) o.seconds.renew += step.renew_seconds;
  o.seconds.solve = seconds_;
  o.iteration_us =
      total_iterations_ > 0 ? 1e6 * seconds_ / static_cast<double>(total_iterations_) : 0;
  o.history = std::move(history_);
  o.solve_seconds = std::move(each_seconds_);
  note_corrections(o);
  note_worse_guesses(o);
  note_steps(o);
  o.steps = std::move(steps_);
  std::erase_if(columns_, [](const ColumnOutcome& c) { return c.reason.empty(); });
  o.columns = std::move(columns_);
  o.block = std::max<std::int64_t>(1, widest_block_);
  o.deterministic = !facts_.variant_times;  // another run may measure other times
  if (facts_.variant_times) o.notes.push_back(why_variant(facts_));
  if (std::string note = block_width_.take_note(); !note.empty())
    o.notes.push_back(std::move(note));
  if (!again_.empty())
    o.notes.push_back(fmt::format(
        "the state of the earlier run does not solve right-hand side {}, which was solved again",
        fmt::join(again_, ", ")));
  if (rhs_exponent_ != 0)
    o.notes.push_back(fmt::format(
        "the solver works on b times 2^{}, where no square leaves the range of double; what "
        "monitors print is scaled likewise",
        -rhs_exponent_));
  o.notes.insert(o.notes.end(), checkpointer_->notes().begin(), checkpointer_->notes().end());
  if (const std::size_t solves = o.solve_seconds.size(); solves > 1)
    o.notes.push_back(
        fmt::format("{} solves, {:.3g} s each", solves, seconds_ / static_cast<double>(solves)));
  if (petsc_device_copies() && plan_.amat->on_gpu())
    o.notes.push_back(fmt::format("PETSc copied {} vectors between host and GPU in {} iterations",
                                  copies_, total_iterations_));
}

// Of mixed precision.
void Solves::note_corrections(RunOutcome& o) const {
  if (facts_.mixed) o.corrections = facts_.replacements;
  if (facts_.exact_from >= 0)
    o.notes.push_back(fmt::format(
        "FP32 values did not lead to the tolerance: products are in FP64 from iteration {} on",
        facts_.exact_from));
  else if (facts_.mixed)
    o.notes.push_back(
        fmt::format("the residual was corrected {} times in FP64", facts_.replacements));
}

double Solves::error(std::span<const double> x, std::span<const double> exact) const {
  Array<double> difference(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - exact[i];
  return relative(context_.plain.norm(difference), context_.plain.norm(exact));
}

}  // namespace trireme
