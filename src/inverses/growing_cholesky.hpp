// SPDX-License-Identifier: BSD-3-Clause
// The Cholesky factor L of a small matrix B with diagonal 1 that grows by one row at a time, and
// the solution of B y = c.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "inverses/row_rules.hpp"

namespace trireme::inverses {

class GrowingCholesky {
 public:
  void clear() {
    factor_.clear();
    z_.clear();
  }
  std::size_t size() const { return z_.size(); }

  // The next row of B without its diagonal: size() zeros, which the caller replaces.
  std::vector<double>& next_row() {
    next_.assign(size(), 0.0);
    return next_;
  }
  // Eliminates next_row(), whose c is `right`. Returns the number that comes to z of L z = c, by
  // the square of which c^T B^-1 c grows; none where the pivot is not clearly positive.
  std::optional<double> eliminate(double right) {
    double pivot = 1;
    const double* of_row = factor_.data();
    for (std::size_t k = 0; k < next_.size(); ++k) {
      double sum = next_[k];
      for (std::size_t j = 0; j < k; ++j) sum -= of_row[j] * next_[j];
      sum *= of_row[k];
      next_[k] = sum;
      pivot -= sum * sum;
      right -= sum * z_[k];
      of_row += k + 1;
    }
    if (!(pivot > kLeastPivot)) return std::nullopt;
    inverse_root_ = 1 / std::sqrt(pivot);
    return right * inverse_root_;
  }
  // Takes the row that was eliminated last, with its z.
  void take(double z) {
    z_.push_back(z);
    factor_.insert(factor_.end(), next_.begin(), next_.end());
    factor_.push_back(inverse_root_);
  }

  // y of L^T y = z.
  const std::vector<double>& solve() {
    y_ = z_;
    for (std::size_t k = y_.size(); k-- > 0;) {
      const double* const of_row = factor_.data() + k * (k + 1) / 2;
      y_[k] *= of_row[k];
      for (std::size_t j = 0; j < k; ++j) y_[j] -= of_row[j] * y_[k];
    }
    return y_;
  }
  const std::vector<double>& y() const { return y_; }  // of the last solve()

 private:
  std::vector<double> factor_;  // rows of L, one after another, with 1/L(k, k) for L(k, k)
  std::vector<double> z_, y_, next_;
  double inverse_root_ = 0;  // of the pivot of next_
};

}  // namespace trireme::inverses
