// SPDX-License-Identifier: BSD-3-Clause
#include "api/preconditioner_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace trireme::api {

PreconditionerSearch::PreconditionerSearch(const DistributedMatrix& matrix, std::string_view method,
                                           Loop& loop)
    : loop_(loop),
      on_gpu_(loop.on_gpu()),
      rule_([&] {
        PreconditionerCandidates found =
            preconditioner_candidates(matrix, {.preconditioner = loop.preconditioner(),
                                               .method = std::string(method),
                                               .on_gpu = loop.on_gpu(),
                                               .in_order = false});
        candidates_ = std::move(found.preconditioners);
        return std::move(found.options);
      }()),
      nothing_to_choose_(!candidates_[0].is(solvers::PreconditionerKind::jacobi)) {}

void PreconditionerSearch::predict() {
  const double iteration = rule_.options()[0].iteration_seconds;
  const double product = 1e-6 * loop_.product_microseconds();
  predict_costs(rule_, candidates_, product > 0 ? product : 0.5 * iteration, on_gpu_, false);
}

void PreconditionerSearch::between_solves(std::int64_t solves_ahead) {
  solving_ = false;
  solves_after_ = solves_ahead;
  if (!nothing_to_choose_ && solves_ > 0 && rule_.next(outlook())) change();
}

void PreconditionerSearch::solve_begins(std::int64_t solves_after) {
  norms_.clear();
  took_over_ = 0;
  seconds_before_ = 0;
  next_look_ = 0;
  between_solves(solves_after + 1);
  solves_after_ = solves_after;
  solving_ = true;
  watch_ = {};
}

void PreconditionerSearch::iteration(double norm, double target) {
  norms_.push_back(norm);
  target_ = target;
}

SolveOutlook PreconditionerSearch::outlook() const {
  // A rest is expected to be at most a multiple of the past: that of any solve so far.
  SolveOutlook here{
      .decades_whole = decades_whole_, .solves_after = solves_after_, .iterations = longest_};
  if (!solving_ || norms_.empty()) return here;
  const double now = *std::ranges::min_element(norms_);
  here.decades_left = now > target_ && target_ > 0 ? std::log10(now / target_) : 0;
  here.iterations = std::max<std::int64_t>(longest_, std::ssize(norms_) - 1);
  here.seconds = seconds_before_ + watch_.seconds();
  return here;
}

void PreconditionerSearch::observe() {
  if (norms_.empty()) return;
  if (target_ > 0 && norms_.front() > target_)
    decades_whole_ = std::log10(norms_.front() / target_);
  const std::span<const double> shown = std::span<const double>(norms_).subspan(took_over_);
  if (shown.size() < 2) return;
  rule_.observe(shown, watch_.seconds());
  if (rule_.running() == 0) predict();
}

bool PreconditionerSearch::due() {
  if (nothing_to_choose_ || !solving_) return false;
  const std::int64_t done = std::ssize(norms_) - 1 - static_cast<std::int64_t>(took_over_);
  if (done < next_look_) return false;
  next_look_ = std::max(
      done + std::max<std::int64_t>(1, done / 16),
      rule_.running() == 0 ? PreconditionerRule::kFirstLook : PreconditionerRule::kFirstLookBack);
  observe();
  return rule_.next(outlook()).has_value();
}

void PreconditionerSearch::change() {
  const auto next = rule_.next(outlook());
  if (!next) return;
  if (rule_.running() != 0) {
    const auto mine = rule_.solve_seconds(rule_.running(), outlook().decades_whole);
    rule_.leave(mine ? fmt::format("left: a solve would have taken {:.2g} s", *mine)
                     : std::string("left: its iterations did not reduce the residual"));
  }
  change_to(*next);
}

void PreconditionerSearch::change_to(std::size_t option) {
  const double iterating = watch_.seconds();
  const Stopwatch watch;
  try {
    loop_.change_preconditioner(candidates_[option]);
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal || option == 0) throw;
    rule_.failed(option, fmt::format("not possible: {}", error.what()));
    notes_.push_back(fmt::format("preconditioner {} is not possible: {}",
                                 word_of(candidates_[option]), error.what()));
    loop_.change_preconditioner(candidates_[rule_.running()]);
    watch_ = {};
    return;
  }
  const double seconds = watch.seconds();
  set_up_seconds_ += seconds;
  rule_.changed_to(option, seconds);
  if (solving_) {
    seconds_before_ += iterating;
    took_over_ = norms_.empty() ? 0 : norms_.size() - 1;
  }
  next_look_ = 0;
  watch_ = {};
}

bool PreconditionerSearch::solve_ends(bool converged, bool failed) {
  if (failed && rule_.running() != 0) {
    rule_.failed(rule_.running(), "left: the solve failed with it");
    notes_.push_back(fmt::format("preconditioner {} was left: the solve failed with it",
                                 word_of(candidates_[rule_.running()])));
    solving_ = false;
    change_to(0);
    norms_.clear();
    took_over_ = 0;
    seconds_before_ = 0;
    solving_ = true;
    return false;
  }
  if (solving_ && !nothing_to_choose_) {
    observe();
    if (took_over_ == 0 && converged && std::ssize(norms_) > 1)
      rule_.solved(std::ssize(norms_) - 1, decades_whole_, watch_.seconds());
    if (rule_.running() == 0 && std::ssize(norms_) > 1) predict();
  }
  longest_ = std::max<std::int64_t>(longest_, std::ssize(norms_) - 1);
  solving_ = false;
  ++solves_;
  return true;
}

}  // namespace trireme::api
