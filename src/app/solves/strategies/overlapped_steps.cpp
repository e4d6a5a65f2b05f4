// SPDX-License-Identifier: BSD-3-Clause
#include "app/solves/strategies/overlapped_steps.hpp"

#include <string>
#include <utility>

#include "app/solves/judging.hpp"
#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

bool can_overlap(const SolveParts& parts) {
  const KspSolver& solver = *parts.plan.solver;
  const Steps& steps = *parts.context.steps;
  return !parts.preconditioning && !parts.context.scaling &&
         size_of(parts.context.matrix->comm) == 1 && steps.next_is_read_alone() &&
         std::dynamic_pointer_cast<CudaOperator>(parts.plan.amat->shared_operator()) &&
         solver.takes_device_vectors() && solver.measures_first_residual() &&
         !steps.solution_is_one();
}

}  // namespace

std::unique_ptr<OverlappedSteps> OverlappedSteps::begin(SolveParts& parts, OneByOne& one_by_one,
                                                        std::vector<StepOutcome>& outcomes) {
  if (!can_overlap(parts)) return nullptr;
  try {
    return std::make_unique<OverlappedSteps>(parts, one_by_one, outcomes);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;  // the memory does not suffice
    return nullptr;
  }
}

OverlappedSteps::OverlappedSteps(SolveParts& parts, OneByOne& one_by_one,
                                 std::vector<StepOutcome>& outcomes)
    : parts_(parts),
      steps_(*parts.context.steps),
      one_by_one_(one_by_one),
      outcomes_(outcomes),
      overlap_(steps_, parts.context.plain, *parts.context.matrix) {}

bool OverlappedSteps::begin_step(std::size_t k) {
  if (k > 0) {
    overlap_.take_rhs();
    if (!overlap_.rhs_fits() || steps_.matrix_exponent() != 0 || steps_.solution_is_one())
      return false;
    overlap_.begin_step(parts_.context.spec.solver.guess == Guess::extrapolate && k > 1);
  }
  overlap_.work_ahead(is_pending());
  return true;
}

bool OverlappedSteps::solve(std::size_t k) {
  KspSolver& solver = *parts_.plan.solver;
  SolveRecords& records = parts_.records;
  const Guess rule = parts_.context.spec.solver.guess;
  const bool nonzero = rule != Guess::zero;
  const double unit = overlap_.rhs_norm();
  const double reference = solver.reference(unit, unit);
  solver.scale_tolerance(0);
  solver.use_device_vectors(overlap_.vectors());
  KspResult result = one_by_one_.run({.k = k,
                                      .solves_after = parts_.solves_after(),
                                      .nonzero_guess = nonzero,
                                      .unit = unit,
                                      .target = solver.loop_target(reference)});
  solver.use_device_vectors({});

  if (pending_ && !settle(overlap_.checked())) {
    outcomes_.pop_back();
    return false;
  }
  const bool line = rule == Guess::extrapolate && k > 1;
  const bool dropped = result.facts.dropped_norm >= 0;
  const Guess taken = line ? Guess::extrapolate : nonzero ? Guess::previous : Guess::zero;
  if (dropped)
    records.add_worse_guess(k, std::string(to_string(taken)),
                            relative(result.facts.dropped_norm, unit));
  outcomes_[k].guess = to_string(dropped ? Guess::zero : taken);
  outcomes_[k].guess_residual =
      nonzero && !result.residuals.empty() ? relative(result.residuals.front(), unit) : 1;
  records.total_iterations += result.iterations;
  records.seconds += result.seconds;
  if (!result.verdict.converged || !steps_.next_is_read_alone()) {
    Array<double> x = overlap_.solution();
    ScaledSystem system(parts_.context, k, {});
    system.measure(parts_.context.plain, false);
    note_solve(parts_, k, system, std::move(result), std::move(x));
    return true;
  }
  pending_ = {
      .k = k, .verdict = result.verdict, .residual = {.unit = unit, .reference = reference}};
  if (!result.residuals.empty()) pending_->residual.last_norm = result.residuals.back();
  const double claimed = result.residuals.empty() ? 0 : result.residuals.back();
  record_solve(parts_, k, std::move(result), relative(claimed, unit), unit);
  return true;
}

bool OverlappedSteps::settle(const Residual& residual) {
  Pending step = *std::exchange(pending_, std::nullopt);
  SolveRecords& records = parts_.records;
  step.residual.norm = residual.norm;
  step.residual.rows = residual;
  confirm(step.verdict, *parts_.plan.solver, step.residual);
  records.add_rows(step.residual);
  records.residuals[step.k] = relative(residual.norm, step.residual.unit);
  outcomes_[step.k].relative_residual = records.residuals[step.k];
  outcomes_[step.k].converged = step.verdict.converged;
  if (!step.verdict.converged) records.verdict = std::move(step.verdict);
  return outcomes_[step.k].converged;
}

// The matrix may have the values of the next step already.
bool OverlappedSteps::settle_now() {
  if (!pending_) return true;
  const std::size_t k = pending_->k;
  const bool is_present = steps_.now() == static_cast<std::int64_t>(k);
  const std::span<const double> present_values = parts_.context.matrix->blocks.local.values;
  const auto values = is_present ? present_values : steps_.values_before();
  const auto b = is_present ? std::span<const double>(steps_.rhs()) : steps_.rhs_before();
  Array<double>& x = parts_.solutions[k];
  x = overlap_.solution();
  steps_.write(x, true);
  return settle(parts_.context.plain.residual_alone(values, b, x));
}

bool OverlappedSteps::end(std::size_t k) {
  std::vector<Array<double>>& solutions = parts_.solutions;
  const bool confirmed = settle_now();
  // An array that is there already may wait to be written.
  if (solutions[k - 1].empty()) solutions[k - 1] = overlap_.solution();
  if (k > 1 && solutions[k - 2].empty()) solutions[k - 2] = overlap_.former_solution();
  return confirmed;
}

}  // namespace trireme
