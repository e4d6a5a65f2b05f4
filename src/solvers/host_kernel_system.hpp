// SPDX-License-Identifier: BSD-3-Clause
// One process, one host kernel: the smallest system that the resident engine solves.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/multi_product.hpp"
#include "solvers/host_solver.hpp"

namespace trireme::solvers {

class HostKernelSystem : public HostSystem {
 public:
  // `kernel` holds a square matrix of `rows` rows. All references must outlive the system.
  // In mixed precision, `kernel` holds the values in FP32, `exact` holds the FP64 values, and
  // `row_defect` has `rows` numbers: what rounding to FP32 took from the sum of each row.
  HostKernelSystem(HostKernel<double>& kernel, std::int64_t rows,
                   HostKernel<double>* exact = nullptr, std::span<const float> row_defect = {})
      : kernel_(kernel),
        exact_(exact),
        row_defect_(row_defect),
        rows_(rows),
        products_(kernel, rows, rows),
        exact_products_(exact ? *exact : kernel, rows, rows) {}
  std::int64_t rows() const override { return rows_; }
  void multiply(std::span<const double> x, std::span<double> y) override {
    kernel_.multiply(x, y, Accumulate::no);
  }
  bool inexact() const override { return exact_ != nullptr; }
  std::span<const float> row_defect() const override { return row_defect_; }
  void multiply_exactly(std::span<const double> x, std::span<double> y) override {
    (exact_ ? *exact_ : kernel_).multiply(x, y, Accumulate::no);
  }
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y) override {
    products_.multiply(x, y, Accumulate::no);
  }
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) override {
    exact_products_.multiply(x, y, Accumulate::no);
  }
  bool multiply_and_dot(MultiVector<const double> x, MultiVector<double> y, std::int64_t chunk_rows,
                        double* dots) override {
    return exact_products_.multiply_and_dot(x, y, chunk_rows, dots);
  }

 private:
  HostKernel<double>& kernel_;
  HostKernel<double>* exact_;
  std::span<const float> row_defect_;
  std::int64_t rows_;
  MultiProduct<double> products_, exact_products_;
};

}  // namespace trireme::solvers
