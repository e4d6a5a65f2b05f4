// SPDX-License-Identifier: BSD-3-Clause
// Medians throughout, so that a few interrupted products decide nothing.
#include "report/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme {
namespace {

constexpr std::size_t kMinTimes = 5;

double median_of(std::vector<double>& times) {
  const std::size_t half = times.size() / 2;
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(half));
  const double upper = times[half];
  if (times.size() % 2 == 1) return upper;
  return (upper +
          *std::max_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(half))) /
         2;
}

}  // namespace

Spread spread_of(std::vector<double> times) {
  Spread spread;
  spread.median = median_of(times);
  for (double& time : times) time = std::abs(time - spread.median);
  spread.deviation = 1.4826 * median_of(times);
  return spread;
}

std::string verdict_on_noise(const std::vector<double>& before, const std::vector<double>& after) {
  const std::size_t fewer = std::min(before.size(), after.size());
  if (fewer < kMinTimes) return fmt::format("{} measured: too few to tell", fewer);
  const Spread a = spread_of(before), b = spread_of(after);
  if (std::abs(b.median - a.median) <= std::hypot(a.deviation, b.deviation)) return "within noise";
  const double change = 100 * (b.median / a.median - 1), size = std::abs(change);
  const std::string percent = fmt::format(fmt::runtime(size < 99.5 ? "{:.2g}" : "{:.0f}"), size);
  return fmt::format("{} by {} % (beyond noise)", change < 0 ? "faster" : "slower", percent);
}

}  // namespace trireme
