// SPDX-License-Identifier: BSD-3-Clause
// Whether two series of times differ by more than they scatter.
#pragma once

#include <string>
#include <vector>

namespace trireme {

struct Spread {
  double median = 0;
  double deviation = 0;  // median absolute deviation times 1.4826: sigma, where times are normal
};

// The median of an even number of times is the mean of the middle two. `times` is not empty.
Spread spread_of(std::vector<double> times);

// "faster by 12 % (beyond noise)", "slower by 3 % (beyond noise)", "within noise", or that there
// are too few times to tell. Medians differ beyond noise where they are further apart than the
// deviations of single times of both series together: sqrt(d1^2 + d2^2). This is more cautious than
// the error of a median, because the times of one run share its clock rate and its place in memory.
std::string verdict_on_noise(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace trireme
