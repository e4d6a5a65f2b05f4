// SPDX-License-Identifier: BSD-3-Clause
// Quantiles of a sample of times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trireme::bench {

// Linear between the order statistics; `fraction` in [0, 1]. 0 for an empty sample.
inline double quantile(std::vector<double> sample, double fraction) {
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  const double position = fraction * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (position - static_cast<double>(below)) * (sample[above] - sample[below]);
}

}  // namespace trireme::bench
