// SPDX-License-Identifier: BSD-3-Clause
// How fast a solve has converged.
#pragma once

#include <cmath>
#include <optional>
#include <span>

namespace trireme {

// The geometric mean of the factors by which one iteration reduces the residual norm. `history` has
// the norms from iteration 0. Empty without an iteration, and where the first or the last norm is
// zero or not finite.
inline std::optional<double> convergence_factor(std::span<const double> history) {
  if (history.size() < 2) return std::nullopt;
  const double first = history.front(), last = history.back();
  if (!(first > 0 && last > 0) || !std::isfinite(first) || !std::isfinite(last))
    return std::nullopt;
  return std::exp((std::log(last) - std::log(first)) / static_cast<double>(history.size() - 1));
}

}  // namespace trireme
