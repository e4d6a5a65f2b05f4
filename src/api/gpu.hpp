// SPDX-License-Identifier: BSD-3-Clause
// The GPU of a Solver, as far as vectors are concerned.
#pragma once

#include <memory>
#include <span>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "device/vector_sums.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/plain_residual.hpp"
#include "kernels/kernel.hpp"

namespace trireme::api {

class Gpu {
 public:
  // The current device.
  Gpu() : sums_(stream_) {}

  StreamRef stream() const { return stream_; }
  // What is queued here later begins after what `other` has now.
  void wait_for(StreamRef other);
  void wait_until_done() const { stream_.synchronize(); }
  VectorFacts facts_of(DeviceSpan<const double> v) { return sums_.facts_of(v); }
  // Returns when `from` has been read, and when `to` is complete.
  void upload(std::span<const double> from, DeviceSpan<double> to);
  void download(DeviceSpan<const double> from, std::span<double> to);

  // b - A x by `albus` from the CSR, whatever kernel the loops have: its worst row is not looked
  // for.
  Residual residual(DistributedMatrix& matrix, DeviceSpan<const double> b,
                    DeviceSpan<const double> x);
  // To be called where the values of the matrix have changed.
  void forget_matrix();

 private:
  // Where squares leave the range of double.
  Residual residual_on_host(const DistributedMatrix& matrix, DeviceSpan<const double> b,
                            DeviceSpan<const double> x);

  Stream stream_;
  VectorSums sums_;
  Event event_{Timing::no};
  Uploader uploader_;
  std::unique_ptr<CudaKernel<double>> product_;  // of residual(); made at the first use
  DeviceBuffer<double> sizes_, r_;
};

}  // namespace trireme::api
