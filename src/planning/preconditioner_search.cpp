// SPDX-License-Identifier: BSD-3-Clause
// Predicts the candidates from the first iterations, and changes between two iterations.
#include "planning/preconditioner_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace trireme {

PreconditionerSearch::PreconditionerSearch(PreconditionerCandidates candidates,
                                           ChangeableSolver& solver, Settings settings)
    : candidates_(std::move(candidates.preconditioners)),
      rule_(std::move(candidates.options)),
      solver_(solver),
      settings_(settings) {}

void PreconditionerSearch::predict() {
  const double product = solver_.product_seconds();
  const double half = 0.5 * rule_.options()[0].iteration_seconds;
  predict_costs(rule_, candidates_, product > 0 ? product : half, solver_.on_gpu(),
                solver_.finds_set_up());
}

std::int64_t PreconditionerSearch::iterations() const {
  return std::ssize(norms_) - 1 - static_cast<std::int64_t>(took_over_);
}

double PreconditionerSearch::seconds_of(std::int64_t iterations, double measured) const {
  if (iterations <= 0) return 0;
  const auto count = static_cast<double>(iterations);
  return count * solver_.iteration_seconds(measured / count);
}

void PreconditionerSearch::forget_solve() {
  norms_.clear();
  took_over_ = 0;
  seconds_before_ = 0;
  next_look_ = 0;
}

void PreconditionerSearch::restart_watch() {
  paused_ = 0;
  watch_ = {};
}

std::optional<PreconditionerChange> PreconditionerSearch::between_solves(
    std::int64_t solves_ahead) {
  solving_ = false;
  solves_after_ = solves_ahead;
  if (!settings_.makes_changes || solves_ == 0) return std::nullopt;
  return change();
}

std::optional<PreconditionerChange> PreconditionerSearch::solve_begins(std::int64_t solves_after) {
  forget_solve();
  auto change = between_solves(solves_after + 1);
  solves_after_ = solves_after;
  solving_ = true;
  restart_watch();
  return change;
}

void PreconditionerSearch::iteration(double norm, double target) {
  norms_.push_back(norm);
  target_ = target;
}

SolveOutlook PreconditionerSearch::outlook() const {
  SolveOutlook here{.decades_whole = decades_whole_,
                    .solves_after = solves_after_,
                    .iterations = longest_,
                    .stale = solver_.is_stale()};
  if (!solving_ || norms_.empty()) return here;
  const double now = *std::ranges::min_element(norms_);
  here.decades_left = now > target_ && target_ > 0 ? std::log10(now / target_) : 0;
  here.iterations = std::max<std::int64_t>(longest_, std::ssize(norms_) - 1);
  here.seconds = seconds_before_ + seconds_of(iterations(), seconds());
  return here;
}

void PreconditionerSearch::observe() {
  if (norms_.empty()) return;
  if (target_ > 0 && norms_.front() > target_)
    decades_whole_ = std::log10(norms_.front() / target_);
  if (iterations() < 1) return;
  rule_.observe(std::span<const double>(norms_).subspan(took_over_),
                seconds_of(iterations(), seconds()));
  if (rule_.running() == 0) predict();
}

bool PreconditionerSearch::due() {
  if (!settings_.makes_changes || !solving_) return false;
  const std::int64_t done = iterations();
  if (done < next_look_) return false;
  next_look_ = std::max(
      done + std::max<std::int64_t>(1, done / 16),
      rule_.running() == 0 ? PreconditionerRule::kFirstLook : PreconditionerRule::kFirstLookBack);
  observe();
  return rule_.next(outlook()).has_value();
}

std::optional<PreconditionerChange> PreconditionerSearch::change() {
  const auto next = solver_.decide(rule_.next(outlook()));
  if (!next) return std::nullopt;
  if (const std::size_t now = rule_.running(); now != 0 && now != *next) {
    const auto mine = rule_.solve_seconds(now, decades_whole_);
    rule_.leave(mine ? fmt::format("left: a solve would have taken {:.2g} s", *mine)
                     : std::string("left: its iterations did not reduce the residual"));
  }
  return take(*next);
}

PreconditionerChange PreconditionerSearch::take(std::size_t option) {
  const double iterating = seconds();
  PreconditionerChange change{.option = option, .renewal = option == rule_.running()};
  try {
    change.seconds = solver_.change_preconditioner(candidates_[option]);
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal || option == 0) throw;
    rule_.failed(option, fmt::format("not possible: {}", error.what()));
    if (change.renewal) return take(0);
    solver_.change_preconditioner(running());
    restart_watch();
    change.failure = error.what();
    return change;
  }
  rule_.changed_to(option, change.seconds);
  if (solving_) {
    seconds_before_ += iterating;
    took_over_ = norms_.empty() ? 0 : norms_.size() - 1;
    change.iteration = static_cast<std::int64_t>(took_over_);
  }
  next_look_ = 0;
  restart_watch();
  return change;
}

void PreconditionerSearch::solved(std::int64_t iterations, double seconds) {
  rule_.solved(iterations, decades_whole_, seconds_of(iterations, seconds));
  if (rule_.running() == 0) predict();
}

void PreconditionerSearch::solve_ends(bool converged, std::optional<double> seconds) {
  const std::int64_t iterations = std::ssize(norms_) - 1;
  if (solving_ && settings_.makes_changes) {
    observe();
    if (converged) rule_.converged();
    if (took_over_ == 0 && converged && iterations > 0)
      solved(iterations, seconds.value_or(this->seconds()));
  }
  if (settings_.counts_longest) longest_ = std::max(longest_, iterations);
  solving_ = false;
  ++solves_;
}

void PreconditionerSearch::unseen_solve_ends(std::int64_t iterations, double seconds) {
  if (settings_.makes_changes && iterations > 0) solved(iterations, seconds);
  solving_ = false;
  ++solves_;
}

PreconditionerChange PreconditionerSearch::fall_back(std::string why) {
  rule_.failed(rule_.running(), std::move(why));
  solving_ = false;
  PreconditionerChange change = take(0);
  forget_solve();
  solving_ = true;
  return change;
}

}  // namespace trireme
