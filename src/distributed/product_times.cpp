// SPDX-License-Identifier: BSD-3-Clause
// Order statistics of product times.
#include "distributed/product_times.hpp"

#include <algorithm>
#include <numeric>

namespace trireme {

ProductTiming summarise(std::vector<float> microseconds, std::int64_t count) {
  ProductTiming timing;
  timing.count = count;
  if (microseconds.empty()) return timing;
  std::sort(microseconds.begin(), microseconds.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(microseconds.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, microseconds.size() - 1);
    const double lower = microseconds[below], upper = microseconds[above];
    return lower + (at - static_cast<double>(below)) * (upper - lower);
  };
  timing.mean = std::accumulate(microseconds.begin(), microseconds.end(), 0.0) /
                static_cast<double>(microseconds.size());
  timing.median = quantile(0.5);
  timing.p95 = quantile(0.95);
  timing.min = microseconds.front();
  timing.max = microseconds.back();
  return timing;
}

std::vector<float> ProductTimes::kept() const {
  std::vector<float> times(ring_.begin(), ring_.begin() + std::min(count_, ring_.size()));
  if (count_ > ring_.size())
    std::rotate(times.begin(), times.begin() + count_ % ring_.size(), times.end());
  return times;
}

std::vector<float> ProductTimes::slowest(MPI_Comm comm) const {
  std::vector<float> times = kept();
  MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_FLOAT, MPI_MAX,
                comm);
  return times;
}

}  // namespace trireme
