// SPDX-License-Identifier: BSD-3-Clause
// What a sequence adds to Solves: from one step to the next.
#include <cmath>
#include <utility>

#include "app/solves/solves.hpp"
#include "base/free_memory.hpp"
#include "base/stopwatch.hpp"
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

// Brings matrix, right-hand side and plan to step k.
bool Solves::go_to_step(std::size_t k) {
  Steps& steps = *context_.steps;
  traits_for_advice_.reset();
  const double seconds_before = step_watch_.lap();
  if (!steps_.empty()) steps_.back().seconds = seconds_before;
  if (context_.on_step) context_.on_step(static_cast<std::int64_t>(k), steps.count());
  StepOutcome step;
  step.name = steps.name(static_cast<std::int64_t>(k));
  if (k == 0) {
    step.new_values = step.renewed = true;
    step.read_seconds = steps.read_seconds();
  } else {
    if (overlap_ && !steps.next_is_read_alone()) {
      end_overlap(k);
      if (unconfirmed_) return false;
    }
    try {
      const Stopwatch watch;
      const Steps::Change change = steps.go_on([this] { give_up_plan(); });
      step.read_seconds = steps.read_seconds();
      read_seconds_ += step.read_seconds;
      if (change == Steps::Change::pattern) {
        rebuild();
        for (Array<double>& x : solutions_)
          if (!x.empty()) x = steps.moved(x);
        step.new_values = step.renewed = step.rebuilt = true;
      } else if (change == Steps::Change::values) {
        bring_values(k, step);
      }
      step.renew_seconds =
          max_over_ranks(context_.matrix->comm, watch.seconds()) - step.read_seconds;
    } catch (const AgreedError& error) {
      settle_now();
      if (unconfirmed_) return false;
      records_.verdict = {.exit_code = error.code(),
                          .text = fmt::format("step {}: {}", k, error.what())};
      return false;
    }
  }
  if (k == 0) begin_overlap();
  if (overlap_) overlap_step(k);
  if (unconfirmed_) return false;
  if (!overlap_ && plan_.amat->on_gpu()) steps.work_ahead();
  steps_.push_back(std::move(step));
  return true;
}

// The matrix has new values on the same pattern.
void Solves::bring_values(std::size_t k, StepOutcome& step) {
  step.new_values = true;
  if (!plan_.amat->refresh_values()) {
    if (overlap_) end_overlap(k);
    if (unconfirmed_) return;
    give_up_plan();
    rebuild();
    step.renewed = step.rebuilt = true;
    return;
  }
  const Renewing renewing = renewal_->due();
  step.renewed = renewing != Renewing::nothing;
  step.new_aggregates = renewing == Renewing::everything;
  const double seconds = plan_.solver->take_values(renewing);
  if (step.new_aggregates)
    renewal_->set_up(seconds, has_structure());
  else if (step.renewed)
    renewal_->renewed(seconds);
  if (preconditioning_)
    preconditioning_->values_changed(step.renewed || context_.spec.solver.renew == Renew::never);
}

void Solves::give_up_plan() {
  of_former_plans_.build += plan_.amat->build_seconds();
  of_former_plans_.upload += plan_.amat->upload_seconds();
  of_former_plans_.setup += setup_seconds();
  x_.reset();
  b_.reset();
  plan_.solver.reset();
  plan_.amat.reset();
}

void Solves::rebuild() {
  tuning_ = nullptr;  // it works on the former plan
  preconditioning_ = nullptr;
  context_.plain = PlainProduct(context_.matrix);
  plan_ = make_plan_();
  plan_.amat->times().clear();
  make_vectors();
  renewal_->set_up(seconds_of_building(), has_structure());
}

void Solves::end_step(std::size_t k) {
  StepOutcome& step = steps_.back();
  step.iterations = records_.iterations;
  step.converged = records_.verdict.converged;
  step.relative_residual = records_.residuals[k];
  step.solve_seconds = records_.each_seconds.back();
  // A step within which the preconditioner changed says nothing about the new one's iterations.
  if (const auto change = preconditioning_ ? preconditioning_->take_change() : std::nullopt) {
    step.renewed = true;
    if (change->renewal)
      renewal_->renewed(change->seconds);
    else
      renewal_->set_up(change->seconds + plan_.solver->saved_seconds(), has_structure());
  } else {
    renewal_->solved(records_.iterations, decades_of(records_.history), step.solve_seconds);
  }
  if (overlap_ && k == 0) overlap_->begin_with(solutions_[0]);
  if (!pending_) context_.steps->write(solutions_[k], plan_.amat->on_gpu());
  if (k > 1) let_go(solutions_[k - 2]);
}

void Solves::note_steps(RunOutcome& o) const {
  std::int64_t renewals = 0, aggregations = 0;
  double all = 0, beside = 0;  // seconds after the first step
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (steps_[k].renewed && k > 0) ++renewals;
    if (steps_[k].new_aggregates) ++aggregations;
    if (k > 0) {
      all += steps_[k].seconds;
      beside += steps_[k].seconds - steps_[k].solve_seconds;
    }
    if (steps_[k].rebuilt)
      o.notes.push_back(fmt::format("step {} has a matrix for which everything was built anew: {}",
                                    k, steps_[k].name));
  }
  if (!steps_.empty())
    o.notes.push_back(fmt::format(
        "{} of {} steps; the preconditioner was renewed {} times{}{}", steps_.size(),
        context_.steps->count(), renewals,
        aggregations > 0 ? fmt::format(", {} of them with new aggregates", aggregations) : "",
        all > 0 ? fmt::format("; after step 0, {:.2g} % of the time passed beside the solves",
                              100 * std::max(0.0, beside) / all)
                : ""));
}

}  // namespace trireme
