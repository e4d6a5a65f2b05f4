// SPDX-License-Identifier: BSD-3-Clause
// A system on the host whose loops have FP32 vectors, for tests.
#pragma once

#include <cstdint>
#include <span>

#include "solvers/solves.hpp"

namespace trireme::test {

// Its FP32 product is that of NarrowKernel: values, x and y in FP32, sums in FP64.
class Fp32System : public solvers::HostKernelSystem {
 public:
  // `kernel` has the FP64 values of `a`.
  Fp32System(HostKernel<double>& kernel, const CsrMatrix<double>& a)
      : HostKernelSystem(kernel, a.rows), a_(a), lost_(test::row_defect(a)) {}

  bool takes_floats() const override { return true; }
  void multiply_floats(std::span<const float> x, std::span<float> y) override {
    ++products;
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      double sum = double{lost_[row]} * double{x[row]};
      for (std::int32_t k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k)
        sum += double{static_cast<float>(a_.values[k])} * double{x[a_.col_idx[k]]};
      y[row] = static_cast<float>(sum);
    }
  }

  std::int64_t products = 0;  // in FP32

 private:
  const CsrMatrix<double>& a_;
  Array<float> lost_;
};

}  // namespace trireme::test
