// SPDX-License-Identifier: BSD-3-Clause
// The extreme eigenvalues of a Lanczos matrix.
#include "solvers/preconditioners/lanczos_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "base/split_mix.hpp"

namespace trireme::solvers {

// Saad, Iterative Methods, section 6.7.3: T(k,k) = 1/alpha_k + beta_{k-1}/alpha_{k-1},
// T(k,k+1) = sqrt(beta_k)/alpha_k.
void LanczosBounds::add(double alpha, double beta) {
  diagonal_.push_back(1 / alpha + last_beta_over_alpha_);
  off_diagonal_.push_back(std::sqrt(std::max(beta, 0.0)) / alpha);
  last_beta_over_alpha_ = beta / alpha;
}

double LanczosBounds::eigenvalue(std::size_t index) const {
  const std::size_t n = diagonal_.size();
  if (n == 0) return 0;
  double low = diagonal_[0], high = diagonal_[0];  // Gershgorin
  for (std::size_t k = 0; k < n; ++k) {
    const double radius =
        (k > 0 ? std::abs(off_diagonal_[k - 1]) : 0) + (k + 1 < n ? std::abs(off_diagonal_[k]) : 0);
    low = std::min(low, diagonal_[k] - radius);
    high = std::max(high, diagonal_[k] + radius);
  }
  for (int step = 0; step < 80; ++step) {
    const double middle = 0.5 * (low + high);
    std::size_t below = 0;  // eigenvalues under `middle`: negative pivots of T - middle I
    double pivot = 1;
    for (std::size_t k = 0; k < n; ++k) {
      const double off = k > 0 ? off_diagonal_[k - 1] : 0;
      pivot = diagonal_[k] - middle - (k > 0 ? off * off / pivot : 0);
      if (pivot == 0) pivot = 1e-300;
      if (pivot < 0) ++below;
    }
    (below <= index ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Array<double> random_right_hand_side(std::int64_t first_row, std::int64_t rows) {
  Array<double> b(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    b[i] = to_unit(split_mix(static_cast<std::uint64_t>(first_row + i), 0)) - 0.5;
  return b;
}

}  // namespace trireme::solvers
