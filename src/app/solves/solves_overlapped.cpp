// SPDX-License-Identifier: BSD-3-Clause
// What an overlap (step_overlap.hpp) changes in Solves: b and x stay on the GPU, and the verdict on
// a step comes while the next one is solved.
#include <algorithm>
#include <utility>

#include "app/solves/solves.hpp"
#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "parallel/collective.hpp"

namespace trireme {

bool Solves::can_overlap() const {
  const KspSolver& solver = *plan_.solver;
  return !preconditioning_ && size_of(context_.matrix->comm) == 1 &&
         context_.steps->next_is_read_alone() &&
         std::dynamic_pointer_cast<CudaOperator>(plan_.amat->shared_operator()) &&
         solver.takes_device_vectors() && solver.measures_first_residual() &&
         !context_.steps->solution_is_one();
}

void Solves::begin_overlap() {
  if (!can_overlap()) return;
  try {
    overlap_.emplace(*context_.steps, context_.plain, *context_.matrix);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;  // the memory does not suffice
  }
}

void Solves::overlap_step(std::size_t k) {
  const Steps& steps = *context_.steps;
  if (k > 0) {
    overlap_->take_rhs();
    if (!overlap_->rhs_fits() || steps.matrix_exponent() != 0 || steps.solution_is_one())
      return end_overlap(k);
    overlap_->begin_step(context_.spec.solver.guess == Guess::extrapolate && k > 1);
  }
  overlap_->work_ahead(pending_.has_value());
}

void Solves::solve_overlapped(std::size_t k) {
  KspSolver& solver = *plan_.solver;
  const Guess rule = context_.spec.solver.guess;
  const bool nonzero = rule != Guess::zero;
  const double unit = overlap_->rhs_norm();
  const double reference = solver.reference(unit, unit);
  const double target = std::max(solver.rtol() * reference, solver.atol());
  solver.scale_tolerance(0);
  solver.use_device_vectors(overlap_->vectors());
  KspResult result = run_solver(k, 0, nonzero, unit, target);
  solver.use_device_vectors({});

  if (pending_) settle(overlap_->checked());
  if (unconfirmed_) {
    steps_.pop_back();
    return;
  }
  const bool line = rule == Guess::extrapolate && k > 1;
  const bool dropped = result.facts.dropped_norm >= 0;
  const Guess taken = line ? Guess::extrapolate : nonzero ? Guess::previous : Guess::zero;
  if (dropped)
    records_.add_worse_guess(k, std::string(to_string(taken)),
                             relative(result.facts.dropped_norm, unit));
  steps_[k].guess = to_string(dropped ? Guess::zero : taken);
  steps_[k].guess_residual =
      nonzero && !result.residuals.empty() ? relative(result.residuals.front(), unit) : 1;
  records_.total_iterations += result.iterations;
  records_.seconds += result.seconds;
  if (!result.verdict.converged || !context_.steps->next_is_read_alone()) {
    Array<double> x = overlap_->solution();
    ScaledSystem system(*this, k, {});
    system.measure(*this, false);
    return note(k, system, std::move(result), std::move(x));
  }
  pending_ = {
      .k = k, .verdict = result.verdict, .residual = {.unit = unit, .reference = reference}};
  if (!result.residuals.empty()) pending_->residual.last_norm = result.residuals.back();
  const double claimed = result.residuals.empty() ? 0 : result.residuals.back();
  record(k, std::move(result), relative(claimed, unit), unit);
}

void Solves::settle(const Residual& residual) {
  Pending step = *std::exchange(pending_, std::nullopt);
  step.residual.norm = residual.norm;
  step.residual.rows = residual;
  confirm(step.verdict, *plan_.solver, step.residual);
  records_.add_rows(step.residual);
  records_.residuals[step.k] = relative(residual.norm, step.residual.unit);
  steps_[step.k].relative_residual = records_.residuals[step.k];
  steps_[step.k].converged = step.verdict.converged;
  if (step.verdict.converged) return;
  records_.verdict = std::move(step.verdict);
  unconfirmed_ = true;
}

// The matrix may have the values of the next step already.
void Solves::settle_now() {
  if (!pending_) return;
  Steps& steps = *context_.steps;
  const std::size_t k = pending_->k;
  const bool is_present = steps.now() == static_cast<std::int64_t>(k);
  const std::span<const double> present_values = context_.matrix->blocks.local.values;
  const auto values = is_present ? present_values : steps.values_before();
  const auto b = is_present ? std::span<const double>(steps.rhs()) : steps.rhs_before();
  solutions_[k] = overlap_->solution();
  steps.write(solutions_[k], true);
  settle(context_.plain.residual_alone(values, b, solutions_[k]));
}

void Solves::end_overlap(std::size_t k) {
  settle_now();
  // An array that is there already may wait to be written.
  if (solutions_[k - 1].empty()) solutions_[k - 1] = overlap_->solution();
  if (k > 1 && solutions_[k - 2].empty()) solutions_[k - 2] = overlap_->former_solution();
  overlap_.reset();
}

}  // namespace trireme
