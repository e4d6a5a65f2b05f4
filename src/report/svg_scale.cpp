// SPDX-License-Identifier: BSD-3-Clause
// Steps of 1, 2 or 5 times a power of ten.
#include "report/svg_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme::svg {
namespace {

constexpr double kDecadesWithSteps = 2;  // shorter logarithmic scales have ticks at 1, 2 and 5
constexpr int kTicks = 6;
constexpr std::size_t kMostTicks = 40;  // also where numbers of a file leave no room for steps

double nice_step(double range, int parts) {
  const double rough = range / parts;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1, 2, 5})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

// The largest 1, 2 or 5 times a power of ten that is not above `number`.
double step_below(double number) {
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const double factor : {5, 2})
    if (number >= factor * power * (1 - 1e-12)) return factor * power;
  return power;
}

double step_above(double number) {
  const double below = step_below(number);
  if (number <= below * (1 + 1e-12)) return below;
  return step_below(below * 2.5 * (1 + 1e-9));
}

}  // namespace

Scale Scale::linear(double low, double high) { return {low, high > low ? high : low + 1, false}; }

Scale Scale::logarithmic(double low, double high) {
  if (std::log10(high / low) > kDecadesWithSteps)
    return {std::pow(10, std::floor(std::log10(low) + 1e-9)),
            std::pow(10, std::ceil(std::log10(high) - 1e-9)), true};
  low = step_below(low);
  high = step_above(high);
  return {low, high > low ? high : 10 * low, true};
}

Scale Scale::between(double from, double to) const {
  Scale scale = *this;
  scale.from_ = from;
  scale.to_ = to;
  return scale;
}

double Scale::operator()(double number) const {
  const double part = logarithmic_ ? std::log(number / low_) / std::log(high_ / low_)
                                   : (number - low_) / (high_ - low_);
  return from_ + (to_ - from_) * part;
}

std::vector<double> Scale::ticks() const {
  std::vector<double> ticks;
  if (!logarithmic_) {
    const double step = nice_step(high_ - low_, kTicks);
    for (double i = std::ceil(low_ / step - 1e-9);
         i * step <= high_ + 1e-9 * step && ticks.size() < kMostTicks; ++i)
      ticks.push_back(i * step);
    return ticks;
  }
  const double decades = std::log10(high_ / low_);
  if (decades > kDecadesWithSteps + 1e-9) {
    const double step = std::max(1.0, nice_step(decades, kTicks));
    for (double e = 0; e <= decades + 1e-9 && ticks.size() < kMostTicks; e += step)
      ticks.push_back(low_ * std::pow(10, e));
  } else {
    for (double tick = low_; tick <= high_ * (1 + 1e-9) && ticks.size() < kMostTicks;
         tick = step_above(tick * 1.01))
      ticks.push_back(tick);
  }
  return ticks;
}

bool drawable(double number) { return std::isfinite(number) && number > 0; }

std::string tick_label(double number) {
  if (number == 0) return "0";
  const double size = std::abs(number);
  if (size >= 0.00099 && size < 99999)
    return fmt::format("{:g}", std::stod(fmt::format("{:.6g}", number)));
  const double exponent = std::floor(std::log10(size) + 1e-9);
  return fmt::format("{:.3g}e{:.0f}", number / std::pow(10, exponent), exponent);
}

}  // namespace trireme::svg
