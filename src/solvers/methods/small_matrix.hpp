// SPDX-License-Identifier: BSD-3-Clause
// Dense matrices with one row or column per right-hand side, which every process holds whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trireme::solvers {

// Stored by rows.
class SmallMatrix {
 public:
  SmallMatrix(std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  double& operator()(std::int64_t i, std::int64_t j) { return values_[i * cols_ + j]; }
  double operator()(std::int64_t i, std::int64_t j) const { return values_[i * cols_ + j]; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::int64_t rows_, cols_;
  std::vector<double> values_;
};

SmallMatrix scaled(double factor, SmallMatrix a);

// L of a = L L^T, by Cholesky's method; none where `a` is not positive definite in FP64. Reads the
// lower triangle.
std::optional<SmallMatrix> cholesky(SmallMatrix a);

// (L L^T)^-1 b
SmallMatrix solve_cholesky(const SmallMatrix& l, SmallMatrix b);

// T, such that the columns of W T are an orthonormal basis of what the columns of W span, from
// `gram` = W^T W. A column whose distance from the span of the columns before it is less than
// `tolerance` times its length is left out; the columns are taken in the order of these distances.
// By Cholesky's method with pivoting, of W with its columns scaled to length 1. A column that is
// zero is left out.
SmallMatrix orthonormal_basis(const SmallMatrix& gram, double tolerance);

}  // namespace trireme::solvers
