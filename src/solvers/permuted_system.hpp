// SPDX-License-Identifier: BSD-3-Clause
// One process, one CUDA kernel that has a row order of its own. The system has no CSR, so that the
// persistent kernel never serves it.
#pragma once

#include <memory>
#include <utility>

#include "kernels/permuted_kernel.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme::solvers {

class PermutedSystem : public CudaSystem {
 public:
  explicit PermutedSystem(std::shared_ptr<PermutedKernel> permuted)
      : permuted_(std::move(permuted)) {}
  std::int64_t rows() const override {
    return static_cast<std::int64_t>(permuted_->order().size());
  }
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) override {
    permuted_->kernel().multiply(x, y, Accumulate::no, stream);
  }
  bool multiplies_vectors() const override { return permuted_->kernel().multiplies_vectors(); }
  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                      StreamRef stream) override {
    permuted_->kernel().multi_multiply(x, y, Accumulate::no, stream);
  }
  std::size_t dot_partials() const override { return permuted_->kernel().dot_partials(); }
  void multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    permuted_->kernel().multiply_and_dot(x, y, partials, stream);
  }
  DeviceSpan<const std::int32_t> order() const override { return permuted_->order(); }

 private:
  std::shared_ptr<PermutedKernel> permuted_;
};

}  // namespace trireme::solvers
