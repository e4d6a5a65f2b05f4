// SPDX-License-Identifier: BSD-3-Clause
#include "support/sums_in_fp64.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace trireme::test {

testing::AssertionResult sums_in_fp64(const CsrView<float>& a, std::span<const float> x,
                                      std::span<const float> y, std::span<const float> y_before,
                                      int shares) {
  constexpr double kHalfUnit = std::numeric_limits<float>::epsilon() / 2;
  constexpr double kSmallest = std::numeric_limits<float>::denorm_min();
  constexpr double kOfDouble = std::numeric_limits<double>::epsilon();
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = y_before.empty() ? 0.0 : static_cast<double>(y_before[row]);
    double magnitude = std::fabs(sum);
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const double term = static_cast<double>(a.values[k]) * static_cast<double>(x[a.col_idx[k]]);
      sum += term;
      magnitude += std::fabs(term);
    }
    const double terms = a.row_ptr[row + 1] - a.row_ptr[row] + 1;
    const double allowed = kHalfUnit * std::fabs(sum) + kSmallest + shares * kHalfUnit * magnitude +
                           2 * terms * kOfDouble * magnitude;
    const double difference = std::fabs(static_cast<double>(y[row]) - sum);
    if (!(difference <= allowed))
      return testing::AssertionFailure()
             << "row " << row << " of " << terms - 1 << " nonzeros is " << y[row] << " instead of "
             << sum << ", a difference of " << difference << " where " << allowed << " is allowed";
  }
  return testing::AssertionSuccess();
}

}  // namespace trireme::test
