// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel as a preconditioner that the caller of a solver applies, for tests.
#pragma once

#include <span>

#include "base/array.hpp"
#include "solvers/preconditioners/given.hpp"
#include "sparse/csr.hpp"

namespace trireme::test {

// M = (D + L) D^-1 (D + U). A zero on the diagonal counts as 1.
class GaussSeidel : public solvers::GivenPreconditioner {
 public:
  // `a` must outlive the object.
  explicit GaussSeidel(const CsrMatrix<double>& a) : a_(a) { renew(); }

  void apply(std::span<const double> r, std::span<double> z) override {
    ++applications;
    for (std::int64_t i = 0; i < a_.rows; ++i) z[i] = (r[i] - sum(i, 0, i, z)) / diagonal_[i];
    for (std::int64_t i = a_.rows - 1; i >= 0; --i)
      z[i] -= sum(i, i + 1, a_.cols, z) / diagonal_[i];
  }
  // Takes the present values of the matrix.
  void renew() {
    diagonal_.assign(static_cast<std::size_t>(a_.rows), 0);
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      for (auto k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k)
        if (a_.col_idx[k] == i) diagonal_[i] += a_.values[k];
      if (diagonal_[i] == 0) diagonal_[i] = 1;
    }
  }

  int applications = 0;

 private:
  // The sum of a_ij z_j over the columns first .. end - 1.
  double sum(std::int64_t i, std::int64_t first, std::int64_t end,
             std::span<const double> z) const {
    double sum = 0;
    for (auto k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k)
      if (a_.col_idx[k] >= first && a_.col_idx[k] < end) sum += a_.values[k] * z[a_.col_idx[k]];
    return sum;
  }

  const CsrMatrix<double>& a_;
  Array<double> diagonal_;
};

}  // namespace trireme::test
