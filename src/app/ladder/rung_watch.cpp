// SPDX-License-Identifier: BSD-3-Clause
// Predicts what is ahead from the least norms so far. Rank 0 decides, by its clock.
#include "app/ladder/rung_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "planning/standing_still.hpp"

namespace trireme {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kFirstLook = 20;  // iterations
// An analysis takes up to so many times the seconds that are expected of it. Beyond that the
// machine is slower than the one of the forecast, or busy, and factors will take longer as well.
constexpr double kUsualSlowness = 2;
// Complete factors do not take over before this part of their expected cost was spent; and they do
// after the second number times it, unless what is ahead takes less than half of it. So a climb
// takes at most about three times what they cost.
constexpr double kLeastSpent = 0.5, kMostSpent = 2, kNearlyDone = 0.5;

}  // namespace

void DirectOffer::ask() {
  asked_ = true;
  forecast_ = ask_();
  if (forecast_ && asking_seconds_ > 0)
    slowness_ = std::max(1.0, forecast_->analysis_seconds / (kUsualSlowness * asking_seconds_));
}

std::optional<double> DirectOffer::seconds(std::int64_t solves) const {
  if (!forecast_ || !forecast_->fits) return std::nullopt;
  const auto count = static_cast<double>(solves);
  const double analysis = forecast_->analysis ? 0 : forecast_->analysis_seconds;
  return analysis + slowness_ * ((factors_each_ ? count : 1.0) * forecast_->factor_seconds +
                                 count * forecast_->solve_seconds);
}

void RungWatch::solve_begins(std::int64_t solves_after) {
  solves_after_ = solves_after;
  best_.clear();
  times_.clear();
  target_ = paused_ = 0;
  next_look_ = kFirstLook;
  solving_ = true;
  begun_ = clock_();
}

void RungWatch::iteration(double norm, double target) {
  best_.push_back(!best_.empty() && !(norm < best_.back()) ? best_.back() : norm);
  times_.push_back(of_this_solve() - paused_);
  target_ = target;
}

double RungWatch::spent() const { return before_ + of_solves_ + (solving_ ? of_this_solve() : 0); }

// The median, which an interruption of the whole process does not change.
double RungWatch::usual_seconds(std::size_t from) const {
  std::vector<double> each;
  for (std::size_t i = from + 1; i < times_.size(); ++i) each.push_back(times_[i] - times_[i - 1]);
  const auto middle = each.begin() + std::ssize(each) / 2;
  std::ranges::nth_element(each, middle);
  return *middle;
}

double RungWatch::remaining() const {
  if (!solving_) return 0;
  if (best_.size() < 2) return kNever;
  // Where the loop goes on below the target, another norm does not hold, which is not seen here.
  if (!(best_.back() > target_)) {
    const auto below = std::ranges::find_if(best_, [&](double norm) { return !(norm > target_); });
    const auto since = best_.end() - below;
    return since > kFirstLook && since > std::ssize(best_) / 8 ? kNever : 0;
  }
  const double left = target_ > 0 ? std::log10(best_.back() / target_) : kNever;
  // The later half alone: what was reduced at first says nothing of a residual that stands still.
  const std::size_t from = best_.size() / 2;
  const double seconds = static_cast<double>(best_.size() - 1 - from) * usual_seconds(from);
  const double decades = std::log10(best_[from] / best_.back());
  const double rate = seconds > 0 && std::isfinite(decades) ? decades / seconds : 0;
  return rate > 0 ? left / rate : kNever;
}

double RungWatch::ahead() const {
  const double rest = remaining();
  const double of_one = solving_      ? of_this_solve() - paused_ + rest
                        : solves_ > 0 ? of_solves_ / static_cast<double>(solves_)
                                      : 0;
  return rest + (solves_after_ > 0 ? static_cast<double>(solves_after_) * of_one : 0);
}

bool RungWatch::stands_still() const { return may_stand_still_ && trireme::stands_still(best_); }

RungWatch::Decision RungWatch::decide() const {
  const double rest = ahead(), so_far = spent();
  if (offer_.can_be_asked()) {
    if (so_far > offer_.asking_seconds() && rest > so_far) return Decision::ask;
  } else if (const auto cost = offer_.seconds(solves_after_ + 1)) {
    const bool pays = rest > *cost && so_far >= kLeastSpent * *cost;
    const bool was_enough = so_far >= kMostSpent * *cost && rest > kNearlyDone * *cost;
    if (pays || was_enough) return Decision::leave_for_direct;
  }
  return stands_still() ? Decision::leave : Decision::go_on;
}

bool RungWatch::due() {
  const std::int64_t done = std::ssize(best_);
  if (!solving_ || leaves() || done < next_look_) return false;
  next_look_ = done + std::max<std::int64_t>(1, done / 16);
  return decide() != Decision::go_on;
}

void RungWatch::run() {
  const auto agreed = [this] {
    Decision decision = decide();
    MPI_Bcast(&decision, 1, MPI_INT, 0, comm_);
    return decision;
  };
  Decision decision = agreed();
  if (decision == Decision::ask) {
    offer_.ask();
    decision = agreed();
  }
  if (decision == Decision::leave)
    why_ = fmt::format("left: the residual stood still for {} iterations", best_.size() / 2);
  for_direct_ = decision == Decision::leave_for_direct;
  if (!for_direct_) return;
  left_ahead_ = ahead();
  MPI_Bcast(&left_ahead_, 1, MPI_DOUBLE, 0, comm_);
  why_ = fmt::format(
      "left: complete factors are expected to take {:.2g} s, which is less than what was ahead",
      *offer_.seconds(solves_after_ + 1));
}

void RungWatch::solve_ends(const KspResult& result) {
  of_solves_ += result.seconds;
  ++solves_;
  solving_ = false;
  if (solves_after_ == 0 || leaves() || !result.verdict.converged) return;
  --solves_after_;
  run();
}

void RungWatch::block_ends(std::int64_t columns, double seconds, std::int64_t solves_after) {
  of_solves_ += seconds;
  solves_ += columns;
  solves_after_ = solves_after - 1;
  solving_ = false;
  if (solves_after > 0 && !leaves()) run();
}

Interlude RungWatch::interlude() {
  return {[this] { return due(); },
          [this] {
            run();
            return leaves() ? After::leave : After::go_on;
          }};
}

}  // namespace trireme
