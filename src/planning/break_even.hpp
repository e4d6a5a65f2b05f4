// SPDX-License-Identifier: BSD-3-Clause
// The number of products after which a kernel has paid for its preprocessing.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace trireme {

struct KernelCost {
  double preprocessing_seconds = 0;
  double product_us = 0;
};

// The smallest k for which preprocessing and k products of `kernel` take no longer than those of
// `baseline`. Empty where there is no such k.
inline std::optional<std::int64_t> break_even_products(const KernelCost& kernel,
                                                       const KernelCost& baseline) {
  const double debt_us = 1e6 * (kernel.preprocessing_seconds - baseline.preprocessing_seconds);
  const double gain_us = baseline.product_us - kernel.product_us;
  if (debt_us <= 0 && gain_us >= 0) return 0;
  if (gain_us <= 0) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(debt_us / gain_us));
}

}  // namespace trireme
