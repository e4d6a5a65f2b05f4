// SPDX-License-Identifier: BSD-3-Clause
// From one step to the next.
#include "app/solves/strategies/in_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/free_memory.hpp"
#include "parallel/collective.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

// By how many powers of ten the residual fell.
double decades_of(const std::vector<double>& residuals) {
  if (residuals.empty() || !(residuals.front() > 0) || !(residuals.back() > 0)) return 0;
  return std::log10(residuals.front() / residuals.back());
}

}  // namespace

InSteps::InSteps(SolveParts& parts, std::function<Plan()> make_plan)
    : parts_(parts),
      steps_(*parts.context.steps),
      make_plan_(std::move(make_plan)),
      one_by_one_(parts),
      renewal_(parts.context.spec.solver.renew, seconds_of_building(), has_structure()),
      read_seconds_(steps_.read_seconds()) {}

bool InSteps::has_structure() const { return parts_.plan.solver->has_multigrid(); }

// With what reading a hierarchy of an earlier run saved.
double InSteps::seconds_of_building() const {
  const KspSolver& solver = *parts_.plan.solver;
  return max_over_ranks(parts_.context.matrix->comm,
                        solver.setup_seconds() + solver.saved_seconds());
}

bool InSteps::solve(std::size_t k) {
  if (!go_to(k)) return false;
  if (overlap_ && k > 0) {
    if (!overlap_->solve(k)) return false;
  } else {
    FirstGuess first = k == 0 ? guess_of(parts_.context, k)
                              : guess_from(parts_.solutions, k, parts_.context.spec.solver.guess);
    OneByOne::Beginning begun = one_by_one_.solve_from(std::move(first), k, parts_.solves_after());
    outcomes_.back().guess = std::move(begun.guess);
    outcomes_.back().guess_residual = begun.residual;
  }
  note(k);
  return true;
}

bool InSteps::go_to(std::size_t k) {
  const double seconds_before = watch_.lap();
  if (!outcomes_.empty()) outcomes_.back().seconds = seconds_before;
  const auto number = static_cast<std::int64_t>(k);
  if (parts_.context.on_step) parts_.context.on_step(number, steps_.count());
  StepOutcome step;
  step.name = steps_.name(number);
  if (k == 0) {
    step.new_values = step.renewed = true;
    step.read_seconds = steps_.read_seconds();
    overlap_ = OverlappedSteps::begin(parts_, one_by_one_, outcomes_);
  } else {
    if (overlap_ && !steps_.next_is_read_alone() && !end_overlap(k)) return false;
    if (!bring_data(k, step)) return false;
  }
  if (overlap_ && !overlap_->begin_step(k) && !end_overlap(k)) return false;
  if (!overlap_ && parts_.plan.amat->on_gpu()) steps_.work_ahead();
  outcomes_.push_back(std::move(step));
  return true;
}

bool InSteps::bring_data(std::size_t k, StepOutcome& step) {
  try {
    const Stopwatch watch;
    const Steps::Change change = steps_.go_on([this] { give_up_plan(); });
    step.read_seconds = steps_.read_seconds();
    read_seconds_ += step.read_seconds;
    step.new_values = change != Steps::Change::rhs_only;
    const bool other_pattern = change == Steps::Change::pattern;
    const auto& follow = parts_.context.follow_step;
    const bool other_scaling = follow && follow(change, [this] { give_up_plan(); });
    if (other_pattern) parts_.context.plain.take_pattern();
    if (other_scaling) ++scalings_;
    if (other_scaling && !other_pattern) poor_scalings_.push_back(k);
    if (other_pattern || other_scaling)
      rebuild(step);
    else if (change == Steps::Change::values && !bring_values(k, step))
      return false;
    if (other_pattern)
      for (Array<double>& x : parts_.solutions)
        if (!x.empty()) x = steps_.moved(x);
    step.renew_seconds =
        max_over_ranks(parts_.context.matrix->comm, watch.seconds()) - step.read_seconds;
    return true;
  } catch (const AgreedError& error) {
    if (!overlap_ || overlap_->settle_now())
      parts_.records.verdict = {.exit_code = error.code(),
                                .text = fmt::format("step {}: {}", k, error.what())};
    return false;
  }
}

// The matrix has new values on the same pattern.
bool InSteps::bring_values(std::size_t k, StepOutcome& step) {
  if (!parts_.plan.amat->refresh_values()) {
    if (overlap_ && !end_overlap(k)) return false;
    give_up_plan();
    rebuild(step);
    return true;
  }
  const Renewing renewing = renewal_.due();
  step.renewed = renewing != Renewing::nothing;
  step.new_aggregates = renewing == Renewing::everything;
  const double seconds = parts_.plan.solver->take_values(renewing);
  if (step.new_aggregates)
    renewal_.set_up(seconds, has_structure());
  else if (step.renewed)
    renewal_.renewed(seconds);
  if (parts_.preconditioning)
    parts_.preconditioning->values_changed(step.renewed ||
                                           parts_.context.spec.solver.renew == Renew::never);
  return true;
}

void InSteps::give_up_plan() {
  Plan& plan = parts_.plan;
  if (!plan.solver) return;
  of_former_plans_.build += plan.amat->build_seconds();
  of_former_plans_.upload += plan.amat->upload_seconds();
  of_former_plans_.setup +=
      max_over_ranks(parts_.context.matrix->comm, plan.solver->setup_seconds());
  one_by_one_.let_go_of_plan();
  plan.solver.reset();
  plan.amat.reset();
}

void InSteps::rebuild(StepOutcome& step) {
  parts_.tuning = nullptr;  // it works on the former plan
  parts_.preconditioning = nullptr;
  parts_.plan = make_plan_();
  parts_.plan.amat->times().clear();
  one_by_one_.take_plan();
  renewal_.set_up(seconds_of_building(), has_structure());
  step.renewed = step.rebuilt = true;
}

bool InSteps::end_overlap(std::size_t k) {
  const auto overlap = std::exchange(overlap_, nullptr);
  return overlap->end(k);
}

// What came of step k.
void InSteps::note(std::size_t k) {
  const SolveRecords& records = parts_.records;
  StepOutcome& step = outcomes_.back();
  step.iterations = records.iterations;
  step.converged = records.verdict.converged;
  step.relative_residual = records.residuals[k];
  step.solve_seconds = records.each_seconds.back();
  if (const double seconds = records.facts.renewed_seconds; seconds > 0) {
    step.renewed = true;
    step.renew_seconds += seconds;
    renewal_.renewed(seconds);
  }
  // A step within which the preconditioner changed says nothing about the new one's iterations.
  PreconditionerTuning* const tuning = parts_.preconditioning;
  if (const auto change = tuning ? tuning->take_change() : std::nullopt) {
    step.renewed = true;
    if (change->renewal)
      renewal_.renewed(change->seconds);
    else
      renewal_.set_up(change->seconds + parts_.plan.solver->saved_seconds(), has_structure());
  } else {
    renewal_.solved(records.iterations, decades_of(records.history), step.solve_seconds);
  }
  std::vector<Array<double>>& solutions = parts_.solutions;
  if (overlap_ && k == 0) overlap_->begin_with(solutions[0]);
  if (!overlap_ || !overlap_->is_pending()) steps_.write(solutions[k], parts_.plan.amat->on_gpu());
  if (k > 1) let_go(solutions[k - 2]);
}

void InSteps::end() {
  if (overlap_) overlap_->settle_now();
  if (!outcomes_.empty()) outcomes_.back().seconds += watch_.seconds();
}

void InSteps::fill(RunOutcome& outcome) {
  outcome.seconds.read += read_seconds_;
  outcome.seconds.build += of_former_plans_.build;
  outcome.seconds.upload += of_former_plans_.upload;
  outcome.seconds.setup += of_former_plans_.setup;
  std::int64_t renewals = 0, aggregations = 0;
  double all = 0, beside = 0;  // seconds after the first step
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const StepOutcome& step = outcomes_[k];
    outcome.seconds.renew += step.renew_seconds;
    if (step.renewed && k > 0) ++renewals;
    if (step.new_aggregates) ++aggregations;
    if (k > 0) {
      all += step.seconds;
      beside += step.seconds - step.solve_seconds;
    }
    if (step.rebuilt && !std::ranges::binary_search(poor_scalings_, k))
      outcome.notes.push_back(fmt::format(
          "step {} has a matrix for which everything was built anew: {}", k, step.name));
  }
  if (!outcomes_.empty())
    outcome.notes.push_back(fmt::format(
        "{} of {} steps; the preconditioner was renewed {} times{}{}", outcomes_.size(),
        steps_.count(), renewals,
        aggregations > 0 ? fmt::format(", {} of them with new aggregates", aggregations) : "",
        all > 0 ? fmt::format("; after step 0, {:.2g} % of the time passed beside the solves",
                              100 * std::max(0.0, beside) / all)
                : ""));
  if (parts_.context.scaling)
    outcome.notes.push_back(fmt::format(
        "scaling: {} was found {} for {} steps{}", to_string(*parts_.context.spec.solver.scaling),
        scalings_ == 1 ? "once" : fmt::format("{} times", scalings_), outcomes_.size(),
        poor_scalings_.empty()
            ? ""
            : fmt::format("; before step {}, it was poor for the first time, and everything was "
                          "built anew",
                          poor_scalings_.front())));
  outcome.steps = std::move(outcomes_);
}

}  // namespace trireme
