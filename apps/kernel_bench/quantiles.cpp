// SPDX-License-Identifier: BSD-3-Clause
// Computes quantiles by sorting.
#include "kernel_bench/quantiles.hpp"

#include <algorithm>
#include <cstddef>

namespace trireme::bench {

double quantile(std::vector<double> sample, double fraction) {
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  const double position = fraction * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (position - static_cast<double>(below)) * (sample[above] - sample[below]);
}

}  // namespace trireme::bench
