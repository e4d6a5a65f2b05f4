// SPDX-License-Identifier: BSD-3-Clause
// Bounds of the spectrum of M^-1 A from a run of preconditioned CG.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array.hpp"

namespace trireme::solvers {

// Collects the coefficients of a CG run. Their Lanczos matrix has the extreme Ritz values of M^-1 A
// as its extreme eigenvalues.
class LanczosBounds {
 public:
  // Adds the coefficients of one iteration: the step length, and the factor of the old direction.
  void add(double alpha, double beta);
  std::size_t size() const { return diagonal_.size(); }
  // False: no iteration has shown a positive eigenvalue.
  bool are_known() const { return size() > 0 && largest() > 0 && std::isfinite(largest()); }
  double smallest() const { return eigenvalue(0); }
  double largest() const { return eigenvalue(diagonal_.size() - 1); }

 private:
  double eigenvalue(std::size_t index) const;  // ascending, by bisection

  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_;
  double last_beta_over_alpha_ = 0;
};

// The right-hand side of the CG run: numbers that are uniform in (-0.5, 0.5). The number of a row
// depends on the row only, not on the process that has the row.
Array<double> random_right_hand_side(std::int64_t first_row, std::int64_t rows);

}  // namespace trireme::solvers
