// SPDX-License-Identifier: BSD-3-Clause
// After how many products a kernel has paid for its preprocessing.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace trireme {

// The smallest count k with build + k product <= baseline_build + k baseline_product; empty: never.
// Any one unit of time for all four.
inline std::optional<std::int64_t> break_even_products(double build, double product,
                                                       double baseline_build,
                                                       double baseline_product) {
  const double debt = build - baseline_build;
  const double gain = baseline_product - product;
  if (debt <= 0 && gain >= 0) return 0;
  if (gain <= 0) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(debt / gain));
}

}  // namespace trireme
