// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by GPU kernels. The halo travels (see gpu_exchange.hpp) while the local
// product runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "distributed/boundary_product.hpp"
#include "distributed/event_ring.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/operator.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/permuted_kernel.hpp"

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
               Precision precision = Precision::full, const ExchangeRequest& exchange = {});

  // Device vectors: queued in `stream`, which is not waited for; where the exchange is by MPI, the
  // host waits until its own entries are packed and its neighbours' have come. Collective.
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  // Host vectors, staged through pinned memory; returns when y is there. Collective.
  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void refresh_values() override;
  KernelStatistics statistics() const override;
  ProductTimes& times() override;

  // Mean microseconds that the staging of host vectors cost a product, beside the product itself.
  double staging_us();
  StreamRef stream() const { return stream_; }

  // For loops on the device: the same product without events and observers, to be recorded as
  // exchange()->recording() says. With `partials` (dot_partials() of them, in a fixed order), also
  // what adds up to this rank's part of x . y; empty: not asked for.
  void queue_product(DeviceSpan<const double> x, DeviceSpan<double> y, DeviceSpan<double> partials,
                     StreamRef stream);
  void queue_exact_product(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  std::size_t dot_partials() const;                          // 0: the kernels do not sum
  GpuExchange* exchange() const { return exchange_.get(); }  // null: one rank
  // What these multiply by; whoever holds it keeps it in place. Built anew where there is none.
  std::shared_ptr<CudaKernel<double>> share_local_kernel();
  DeviceSpan<const float> device_row_defect() const { return device_row_defect_.view(); }
  DeviceCsr<double> local_csr() const { return local_block_.view(); }

  // For a loop of up to `products` products that can take its rows in any order: measures whether
  // the kernel multiplies P A P^T faster in its own order, and if so keeps it for that, and the one
  // for A only if somebody holds it. One rank, exact values; tried once. Counts as build time.
  void choose_row_order(std::int64_t products, const PermutationRule& rule = {});
  // Null: rows are in the caller's order.
  std::shared_ptr<PermutedKernel> permuted() const { return permuted_; }
  const PermutationTrial& row_order_trial() const { return trial_; }

 private:
  struct Kernels {
    std::shared_ptr<CudaKernel<double>> local;  // null: permuted_ has taken its place
    // Null: no ghosts, or so few rows with any that boundary_ multiplies by them.
    std::unique_ptr<CudaKernel<double>> ghost;
  };
  std::unique_ptr<CudaKernel<double>> build(const DeviceBlock& block) const;
  void multiply_permuted(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  // `around` is called with each part of the product and what queues it.
  template <class Around>
  void product(Kernels& kernels, DeviceSpan<const double> x, DeviceSpan<double> y,
               DeviceSpan<double> partials, StreamRef stream, const Around& around);
  void find_row_defect();
  // Host vectors through x_ and y_; returns the seconds that it took.
  template <class Product>
  double staged(std::span<const double> x, std::span<double> y, const Product& product);

  Stream stream_;
  DeviceBlock local_block_, ghost_block_;
  Kernels kernels_;
  DeviceBuffer<float> device_row_defect_;
  Kernels exact_;  // where those above are inexact: albus, which reads the blocks as they lie
  std::shared_ptr<PermutedKernel> permuted_;
  PermutationTrial trial_;
  DeviceBuffer<double> permuted_x_, permuted_y_;  // of multiply_permuted(), made at its first use
  std::unique_ptr<BoundaryProduct> boundary_;
  std::unique_ptr<GpuExchange> exchange_;

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
