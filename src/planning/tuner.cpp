// SPDX-License-Identifier: BSD-3-Clause
// The two rules of tuner.hpp.
#include "planning/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trireme {

Tuner::Tuner(std::vector<TunerOption> options) : options_(std::move(options)) {}

double Tuner::expected_us(std::size_t option) const {
  const TunerOption& asked = options_[option];
  if (asked.product_us) return *asked.product_us;
  double sum = 0;
  int count = 0;
  for (const TunerOption& known : options_)
    if (known.product_us && *known.product_us > 0 && known.predicted_us > 0) {
      sum += std::log(*known.product_us / known.predicted_us);
      ++count;
    }
  return asked.predicted_us * (count > 0 ? std::exp(0.5 * sum / count) : 1);
}

std::optional<std::size_t> Tuner::next(const SolveProgress& progress) const {
  if (options_.empty()) return std::nullopt;
  const double best_us = expected_us(best());
  const double spent = spent_seconds();
  std::optional<std::size_t> choice;
  double most = 0;
  for (std::size_t k = 1; k < options_.size(); ++k) {
    const TunerOption& option = options_[k];
    if (option.product_us || !option.failure.empty()) continue;
    const auto earned_at = [&](double us) {
      return 1e-6 * (best_us * (1 - kLeastGain) - us) * progress.products_ahead / 2;
    };
    const double predicted = earned_at(expected_us(k));
    const double hoped = earned_at(expected_us(k) * (1 - option.uncertainty));
    if (hoped <= 0) continue;
    const double trial = option.predicted_seconds + progress.pause_seconds;
    const double cost = trial + option.order_seconds;
    const bool small = spent + cost <= kSmallPart * progress.seconds && hoped > cost;
    const bool good = (predicted >= cost || hoped >= kReturnOfHope * cost) &&
                      spent + trial <= budget_seconds(progress);
    const double earned = std::max(predicted, hoped / kReturnOfHope);
    if ((small || good) && earned / cost > most) {
      most = earned / cost;
      choice = k;
    }
  }
  return choice;
}

void Tuner::measured(std::size_t option, double product_us, double build_seconds, double seconds) {
  options_[option].product_us = product_us;
  options_[option].build_seconds = build_seconds;
  options_[option].seconds += seconds;
}

void Tuner::order_is_made(Ordering ordering) {
  for (TunerOption& option : options_)
    if (option.ordering == ordering) option.order_seconds = 0;
}

void Tuner::failed(std::size_t option, std::string why, double seconds) {
  options_[option].failure = std::move(why);
  options_[option].seconds += seconds;
}

std::size_t Tuner::best() const {
  std::size_t winner = 0;
  for (std::size_t k = 1; k < options_.size(); ++k) {
    const TunerOption& option = options_[k];
    if (!option.product_us || !option.failure.empty()) continue;
    const double to_beat = expected_us(winner) * (winner == 0 ? 1 - kLeastGain : 1);
    if (*option.product_us < to_beat) winner = k;
  }
  return winner;
}

std::string Tuner::verdict(std::size_t option, std::size_t running) const {
  const TunerOption& asked = options_[option];
  if (option == running)
    return asked.product_us ? "it has the fastest product"
                            : "it was there from the beginning, and no trial would have paid";
  if (!asked.failure.empty()) return asked.failure;
  if (!asked.product_us) return why_not_tried(option);
  const double slower = *asked.product_us / expected_us(running) - 1;
  return slower > 0 ? fmt::format("{:.0f} % slower", 100 * slower)
                    : "not so much faster that a change would pay";
}

std::string Tuner::why_not_tried(std::size_t option) const {
  const double expected = expected_us(option), best_us = expected_us(best());
  if (expected * (1 - options_[option].uncertainty) >= best_us * (1 - kLeastGain))
    return fmt::format("not tried: predicted {:.2f} times the time of the chosen one",
                       expected / best_us);
  return "not tried: a trial would have cost more than it was expected to earn";
}

double Tuner::budget_seconds(const SolveProgress& progress) const {
  const double product = 1e-6 * options_[0].product_us.value_or(options_[0].predicted_us);
  const double ahead = product * progress.products_ahead;
  return std::max(kBudgetPart * (progress.seconds + ahead), kBudgetProducts * product);
}

double Tuner::spent_seconds() const {
  double sum = 0;
  for (const TunerOption& option : options_) sum += option.seconds;
  return sum;
}

}  // namespace trireme
