// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of preconditioner_rule.hpp.
#include "planning/preconditioner_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trireme {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

double recent_rate(std::span<const double> norms) {
  if (norms.size() < 2) return 0;
  const std::size_t third = (norms.size() - 1) / 3;
  const double before = *std::ranges::min_element(norms.first(third + 1));
  const double now = *std::ranges::min_element(norms);
  if (!(before > 0 && now < before)) return 0;
  const double decades = std::log10(before / std::max(now, std::numeric_limits<double>::min()));
  return decades / static_cast<double>(norms.size() - 1 - third);
}

PreconditionerRule::PreconditionerRule(std::vector<PreconditionerOption> options)
    : options_(std::move(options)) {
  options_.front().is_set_up = true;
}

void PreconditionerRule::predict(std::size_t option, double set_up_seconds,
                                 double iteration_seconds) {
  PreconditionerOption& asked = options_[option];
  if (!asked.is_set_up) asked.set_up_seconds = set_up_seconds;
  if (!asked.measured) asked.iteration_seconds = iteration_seconds;
}

void PreconditionerRule::observe(std::span<const double> norms, double seconds) {
  const auto iterations = static_cast<std::int64_t>(norms.size()) - 1;
  observed_ = std::max<std::int64_t>(0, iterations);
  if (iterations < (running_ == 0 ? kFirstLook : kFirstLookBack)) return;
  PreconditionerOption& option = options_[running_];
  option.iteration_seconds = seconds / static_cast<double>(iterations);
  if (option.rate_of_first == 0) option.rate = recent_rate(norms);
  option.measured = true;
}

void PreconditionerRule::solved(std::int64_t iterations, double decades, double seconds) {
  if (iterations <= 0 || !(decades > 0)) return;
  PreconditionerOption& option = options_[running_];
  option.whole_iterations = iterations;
  option.iteration_seconds = seconds / static_cast<double>(iterations);
  if (option.rate_of_first == 0) option.rate = decades / static_cast<double>(iterations);
  option.measured = true;
  option.has_solved = true;
}

double PreconditionerRule::rate_of(std::size_t option) const {
  const PreconditionerOption& asked = options_[option];
  return asked.rate_of_first > 0 ? asked.rate_of_first * options_[0].rate : asked.rate;
}

double PreconditionerRule::iterations_for(std::size_t option, double decades,
                                          std::int64_t iterations) const {
  if (!(decades > 0)) return 0;
  const double rate = rate_of(option);
  // Nothing speaks for going back to iterations that did not reduce the residual.
  if (option == 0 && running_ != 0 && options_[0].measured && !(rate > 0)) return kNever;
  // A rate says little about a future that is much longer than the past from which it is.
  double farthest = kNever;
  if (options_[0].whole_iterations == 0 && (option == 0 || options_[option].rate_of_first > 0)) {
    const auto past = static_cast<double>(std::max<std::int64_t>(iterations, kFirstLook));
    farthest = kFarthest * past / std::max(1.0, options_[option].rate_of_first);
  }
  return rate > 0 ? std::min(decades / rate, farthest) : farthest;
}

double PreconditionerRule::expected_seconds(std::size_t option, const SolveOutlook& outlook) const {
  const PreconditionerOption& asked = options_[option];
  const double rest = iterations_for(option, outlook.decades_left, outlook.iterations);
  double whole = static_cast<double>(asked.whole_iterations);
  if (asked.whole_iterations == 0 && option == running_)
    whole = static_cast<double>(observed_) + rest;
  else if (asked.whole_iterations == 0)
    whole = iterations_for(option, outlook.decades_whole, outlook.iterations);
  const double later =
      outlook.solves_after > 0 ? static_cast<double>(outlook.solves_after) * whole : 0;
  return (asked.is_set_up ? 0 : asked.set_up_seconds) + asked.iteration_seconds * (rest + later);
}

double PreconditionerRule::trust_in(const PreconditionerOption& option,
                                    const SolveOutlook& outlook) const {
  if (running_ == 0) return kTrust;
  if (!options_[running_].has_solved || option.has_solved || outlook.stale) return kTrustToLeave;
  if (option.measured) return kTrustInBeginning;
  const bool promised = option.rate_of_first > 0 && options_[0].whole_iterations == 0;
  return promised ? kTrustInPromise : kTrustToLeave;
}

std::optional<std::size_t> PreconditionerRule::next(const SolveOutlook& outlook) const {
  const PreconditionerOption& now = options_[running_];
  if (!now.measured) return std::nullopt;
  const double stay = expected_seconds(running_, outlook);
  std::optional<std::size_t> choice;
  double best = kNever;
  for (std::size_t k = 0; k < options_.size(); ++k) {
    const PreconditionerOption& option = options_[k];
    if (k == running_ || !can_be_taken(option)) continue;
    const double change = expected_seconds(k, outlook);
    const double trust = trust_in(option, outlook);
    const auto solves = static_cast<double>(1 + outlook.solves_after);
    const bool patient = option.is_set_up || options_[0].whole_iterations > 0 ||
                         solves * outlook.seconds >= option.set_up_seconds;
    if (patient && change < trust * stay && change < best) {
      best = change;
      choice = k;
    }
  }
  return choice;
}

void PreconditionerRule::changed_to(std::size_t option, double set_up_seconds) {
  PreconditionerOption& chosen = options_[option];
  if (!chosen.is_set_up) chosen.set_up_seconds = set_up_seconds;
  chosen.is_set_up = true;
  chosen.failure.clear();
  chosen.may_return = false;
  running_ = option;
  observed_ = 0;
}

bool PreconditionerRule::can_be_taken(const PreconditionerOption& option) const {
  return option.failure.empty() || (option.may_return && options_[0].whole_iterations > 0);
}

void PreconditionerRule::leave(std::string why) {
  PreconditionerOption& option = options_[running_];
  option.failure = std::move(why);
  option.may_return = options_[0].whole_iterations == 0;
  option.is_set_up = false;
}

void PreconditionerRule::failed(std::size_t option, std::string why) {
  options_[option].failure = std::move(why);
  options_[option].may_return = false;
}

std::optional<double> PreconditionerRule::solve_seconds(std::size_t option, double decades) const {
  const PreconditionerOption& asked = options_[option];
  if (asked.whole_iterations > 0)
    return asked.iteration_seconds * static_cast<double>(asked.whole_iterations);
  const double rate = rate_of(option);
  if (!(rate > 0 && decades > 0)) return std::nullopt;
  return asked.iteration_seconds * decades / rate;
}

std::optional<std::int64_t> PreconditionerRule::pays_after(std::size_t option, std::size_t other,
                                                           double decades) const {
  const auto mine = solve_seconds(option, decades), others = solve_seconds(other, decades);
  if (!mine || !others || *mine >= *others) return std::nullopt;
  const double debt = options_[option].set_up_seconds - options_[other].set_up_seconds;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(debt / (*others - *mine))));
}

std::string PreconditionerRule::why_not(std::size_t option, const SolveOutlook& outlook) const {
  const PreconditionerOption& asked = options_[option];
  if (!asked.failure.empty()) return asked.failure;
  const auto mine = solve_seconds(option, outlook.decades_whole);
  const auto running = solve_seconds(running_, outlook.decades_whole);
  if (!options_[running_].measured || !mine || !running)
    return "not tried: the solve ended before the rate of convergence was known";
  if (*mine >= *running || asked.is_set_up)
    return fmt::format("{}: a solve would take {:.2g} times the time",
                       asked.measured ? "measured" : "not tried", *mine / *running);
  const auto solves = pays_after(option, running_, outlook.decades_whole);
  return fmt::format("not tried: its set-up would pay after {} solves",
                     solves ? std::to_string(*solves) : "countless");
}

}  // namespace trireme
