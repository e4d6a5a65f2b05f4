// SPDX-License-Identifier: BSD-3-Clause
// One process, one CUDA kernel: the smallest system that the resident engine solves on a GPU.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/narrow_kernel.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme::solvers {

class CudaKernelSystem : public CudaSystem {
 public:
  // `kernel` holds the square matrix `csr`. All references must outlive the system.
  // In mixed precision, `kernel` holds the values in FP32, `exact` holds the FP64 values, and
  // `row_defect` has csr.rows numbers: what rounding to FP32 took from the sum of each row. With
  // `narrow`, the loops of methods that can have FP32 vectors have them.
  CudaKernelSystem(CudaKernel<double>& kernel, const DeviceCsr<double>& csr,
                   CudaKernel<double>* exact = nullptr, DeviceSpan<const float> row_defect = {},
                   NarrowKernel* narrow = nullptr)
      : kernel_(kernel), exact_(exact), row_defect_(row_defect), narrow_(narrow), csr_(csr) {}
  std::int64_t rows() const override { return csr_.rows; }
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) override {
    kernel_.multiply(x, y, Accumulate::no, stream);
  }
  bool inexact() const override { return exact_ != nullptr; }
  DeviceSpan<const float> row_defect() const override { return row_defect_; }
  void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                        StreamRef stream) override {
    (exact_ ? *exact_ : kernel_).multiply(x, y, Accumulate::no, stream);
  }
  bool takes_floats() const override { return narrow_ != nullptr; }
  std::size_t float_dot_partials() const override { return narrow_ ? narrow_->dot_partials() : 0; }
  void multiply_floats(DeviceSpan<const float> x, DeviceSpan<float> y, DeviceSpan<double> partials,
                       StreamRef stream) override {
    narrow_->multiply(x, y, partials, stream);
  }
  bool multiplies_float_vectors() const override {
    return narrow_ != nullptr && narrow_->multiplies_vectors();
  }
  void multi_multiply_floats(DeviceMultiVector<const float> x, DeviceMultiVector<float> y,
                             StreamRef stream) override {
    narrow_->multi_multiply(x, y, stream);
  }
  bool multiplies_vectors() const override { return kernel_.multiplies_vectors(); }
  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                      StreamRef stream) override {
    kernel_.multi_multiply(x, y, Accumulate::no, stream);
  }
  std::size_t dot_partials() const override { return kernel_.dot_partials(); }
  void multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    kernel_.multiply_and_dot(x, y, partials, stream);
  }
  DeviceCsr<double> csr() const override { return csr_; }

 private:
  CudaKernel<double>& kernel_;
  CudaKernel<double>* exact_;
  DeviceSpan<const float> row_defect_;
  NarrowKernel* narrow_;
  DeviceCsr<double> csr_;
};

}  // namespace trireme::solvers
