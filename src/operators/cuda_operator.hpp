// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by GPU kernels. The halo goes through pinned memory and MPI while the local
// product runs on the device; several ranks may share a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "operators/event_ring.hpp"
#include "operators/halo.hpp"
#include "operators/operator.hpp"

namespace trireme {

// A CSR block in device memory.
struct DeviceBlock {
  DeviceBuffer<std::int32_t> row_ptr, col_idx;
  DeviceBuffer<double> values;
  std::int64_t rows = 0, cols = 0;

  DeviceBlock() = default;
  DeviceBlock(const CsrMatrix<double>& block, StreamRef stream);
  DeviceCsr<double> view() const;
};

class CudaOperator final : public Operator {
 public:
  // Uses this thread's current device (select_device). Uploads both blocks, builds both kernels.
  // Throws the same Error on every rank. Collective.
  CudaOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               Precision precision = Precision::full);

  // Device vectors: queued in `stream`, which is not waited for; where there is a halo, the host
  // waits until its own entries are packed and its neighbours' have come. Collective.
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  // Host vectors, staged through pinned memory; returns when y is there. Collective.
  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void refresh_values() override;
  KernelStatistics statistics() const override;
  ProductTimes& times() override;

  // Mean microseconds that the staging of host vectors cost a product, beside the product itself.
  double staging_us();
  StreamRef stream() const { return stream_; }

  // The parts, for loops that drive them themselves.
  CudaKernel<double>& local_kernel() { return *kernels_.local; }
  CudaKernel<double>& exact_local_kernel() { return inexact_ ? *exact_.local : *kernels_.local; }
  DeviceCsr<double> local_csr() const { return local_block_.view(); }
  CudaKernel<double>* ghost_kernel() {
    return kernels_.ghost.get();
  }  // null: this rank has no ghosts
  DeviceSpan<const std::int32_t> send_rows() const { return send_rows_.view(); }

 private:
  struct Kernels {
    std::unique_ptr<CudaKernel<double>> local, ghost;  // ghost null: no ghosts
  };
  void multiply(Kernels& kernels, DeviceSpan<const double> x, DeviceSpan<double> y,
                StreamRef stream);
  // Host vectors through x_ and y_; returns the seconds that it took.
  template <class Product>
  double staged(std::span<const double> x, std::span<double> y, const Product& product);

  Stream stream_;
  DeviceBlock local_block_, ghost_block_;
  Kernels kernels_;
  Kernels exact_;  // where those above are inexact: albus, which reads the blocks as they lie
  DeviceBuffer<std::int32_t> send_rows_;
  DeviceBuffer<double> ghosts_;
  PinnedBuffer<double> packed_pinned_, ghosts_pinned_;
  std::unique_ptr<HaloExchange> exchange_;
  Event packed_{Timing::no};

  // Staging of host vectors, made at its first use.
  PinnedBuffer<double> x_pinned_, y_pinned_;
  DeviceBuffer<double> x_, y_;
  double staged_seconds_ = 0;
  std::int64_t staged_products_ = 0;

  EventRing events_;
};

// This rank's number on its node, to choose a device by. Collective.
int rank_on_node(MPI_Comm comm);

}  // namespace trireme
