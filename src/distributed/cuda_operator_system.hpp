// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator on GPUs as the resident engine sees it.
#pragma once

#include <memory>
#include <vector>

#include "distributed/cuda_operator.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme {

// The exchange (gpu_exchange.hpp) decides how the loop can be recorded, and whether kernels add up
// over the ranks by themselves.
class CudaOperatorSystem : public solvers::CudaSystem {
 public:
  explicit CudaOperatorSystem(std::shared_ptr<CudaOperator> op);
  std::int64_t rows() const override { return op_->matrix().local_rows(); }
  DeviceSpan<const std::int32_t> order() const override { return op_->order(); }
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) override;
  bool inexact() const override { return op_->inexact(); }
  DeviceSpan<const float> row_defect() const override { return op_->device_row_defect(); }
  void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                        StreamRef stream) override;
  bool takes_floats() const override { return op_->takes_floats(); }
  void prepare_floats() override { op_->prepare_floats(); }
  std::size_t float_dot_partials() const override { return op_->float_dot_partials(); }
  void multiply_floats(DeviceSpan<const float> x, DeviceSpan<float> y, DeviceSpan<double> partials,
                       StreamRef stream) override {
    op_->queue_float_product(x, y, partials, stream);
  }
  bool multiplies_float_vectors() const override { return op_->multiplies_float_vectors(); }
  void multi_multiply_floats(DeviceMultiVector<const float> x, DeviceMultiVector<float> y,
                             StreamRef stream) override {
    op_->queue_float_multi_product(x, y, stream);
  }
  void prepare_multi_product(std::int64_t stride, std::int64_t width) override {
    op_->prepare_multi_product(stride, width);
  }
  bool multiplies_vectors() const override { return op_->multiplies_vectors(); }
  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                      StreamRef stream) override;
  std::size_t dot_partials() const override { return op_->dot_partials(); }
  void multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                        DeviceSpan<double> partials, StreamRef stream) override;
  DeviceCsr<double> csr() const override;
  std::vector<DeviceRowBlock<double>> local_blocks() const override {
    if (!op_->has_entries()) return {{}};
    return op_->local().blocks();
  }
  void sum(DeviceSpan<double> values, StreamRef stream) override;
  int processes() const override { return processes_; }
  Recording recording() const override;
  PeerSums* peer_sums() const override;
  void check() const override;
  bool sums_are_cheap() const override;

 private:
  std::shared_ptr<CudaOperator> op_;
  int processes_;
  std::shared_ptr<CudaKernel<double>> kernel_;  // held so that the operator keeps it
};

}  // namespace trireme
