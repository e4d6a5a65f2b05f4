// SPDX-License-Identifier: BSD-3-Clause
// Extrapolates the logarithm of the residual norm.
#include "planning/expected_iterations.hpp"

#include <algorithm>
#include <cmath>

namespace trireme {

std::int64_t expected_iterations(std::span<const double> norms, double target, std::int64_t limit) {
  const std::int64_t done = std::max<std::int64_t>(0, std::ssize(norms) - 1);
  const std::int64_t left = std::max<std::int64_t>(0, limit - done);
  constexpr std::int64_t kFewest = 8;
  if (done < kFewest) return std::min(left, kFewest);

  const std::size_t quarter = norms.size() / 4;
  const auto smallest = [&](std::size_t first) {
    return *std::ranges::min_element(norms.subspan(first, quarter));
  };
  const double before = smallest(norms.size() - 2 * quarter);
  const double now = smallest(norms.size() - quarter);
  if (!(now > target)) return 0;
  const double per_iteration = std::log(before / now) / static_cast<double>(quarter);
  if (!(per_iteration > 0)) return std::min(left, 2 * done);
  const double needed = std::log(now / std::max(target, 1e-300)) / per_iteration;
  return std::min(left, static_cast<std::int64_t>(
                            std::ceil(std::min(needed, 10.0 * static_cast<double>(done)))));
}

}  // namespace trireme
