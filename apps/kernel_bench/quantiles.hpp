// SPDX-License-Identifier: BSD-3-Clause
// Quantiles of a sample of times.
#pragma once

#include <vector>

namespace trireme::bench {

// Interpolates linearly between the order statistics. `fraction` is in [0, 1]. Returns 0 for an
// empty sample.
double quantile(std::vector<double> sample, double fraction);

}  // namespace trireme::bench
