// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator on GPUs as the resident engine sees it.
#pragma once

#include <memory>

#include "device/buffer.hpp"
#include "krylov/resident/cuda_solve.hpp"
#include "operators/cuda_operator.hpp"

namespace trireme {

// One rank: all of it stays on the device and can be captured. Several ranks: halo and sums go
// through pinned memory and MPI, and the host launches every iteration.
class CudaOperatorSystem : public resident::CudaSystem {
 public:
  explicit CudaOperatorSystem(std::shared_ptr<CudaOperator> op);
  std::int64_t rows() const override { return op_->matrix().local_rows(); }
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) override;
  bool inexact() const override { return op_->inexact(); }
  void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                        StreamRef stream) override;
  std::size_t dot_partials() const override;
  void multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                        DeviceSpan<double> partials, StreamRef stream) override;
  DeviceCsr<double> csr() const override;
  DeviceCsr<double> local_csr() const override { return op_->local_csr(); }
  void sum(DeviceSpan<double> values, StreamRef stream) override;
  int processes() const override { return processes_; }
  bool capturable() const override { return processes_ == 1; }

 private:
  std::shared_ptr<CudaOperator> op_;
  int processes_;
  PinnedBuffer<double> sums_;
};

}  // namespace trireme
