// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by GPU kernels. The halo travels (gpu_exchange.hpp) while the local product
// runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/stream.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/event_ring.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/operator.hpp"
#include "kernels/blocked_cuda_kernel.hpp"
#include "kernels/blocked_device_csr.hpp"
#include "kernels/narrow_kernel.hpp"
#include "kernels/permuted_kernel.hpp"

namespace trireme {

class CudaOperator final : public Operator {
 public:
  // Builds the kernels from the matrix's DeviceBlocks, which the first operator of a matrix uploads
  // to this thread's current device (select_device).
  // Throws the same Error on every rank: usage for an unknown kernel, resource where the GPU memory
  // or the requested exchange does not suffice. Collective.
  CudaOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               const OperatorOptions& options, const ExchangeRequest& exchange = {});
  CudaOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               Precision precision = Precision::full, const ExchangeRequest& exchange = {})
      : CudaOperator(std::move(matrix), kernel, OperatorOptions{.precision = precision}, exchange) {
  }

  // y = A x with vectors of local_rows() numbers in device memory. The work is queued in `stream`,
  // and the call does not wait for it. Only an exchange by MPI makes the host wait, until its own
  // entries are packed and those of its neighbours have come. Collective.
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  // The same with vectors in host memory, which travel through pinned memory. Returns when y is
  // complete. Collective.
  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void refresh_values() override;
  double measure_product_us(int products) override;
  KernelStatistics statistics() const override;
  ProductTimes& times() override;

  // Mean microseconds per product that the transfer of host vectors took, without the product.
  double staging_us();
  StreamRef stream() const { return stream_; }

  // The product for a loop on the device, with vectors in order(): without events and observers,
  // and suited to be recorded as exchange()->recording() says. Where `partials` is not empty, it
  // has dot_partials() numbers, and the product also writes terms there, in a fixed order, whose
  // sum is this rank's part of x . y.
  void queue_product(DeviceSpan<const double> x, DeviceSpan<double> y, DeviceSpan<double> partials,
                     StreamRef stream);
  void queue_exact_product(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream);
  // Whether queue_float_product() exists: in mixed precision, where the kernel has an executor for
  // FP32 and the ghost block of no rank needs a kernel. The same on all ranks.
  bool takes_floats() const { return takes_floats_; }
  // Builds the kernel of queue_float_product(), unless it is there. Where the kernel cannot serve,
  // takes_floats() is false afterwards. Collective.
  void prepare_floats();
  // Times so many products of queue_float_product(), as multiply() times its own. Returns false
  // where no loop has prepared it.
  bool time_float_products(int products);
  std::size_t float_dot_partials() const;
  // y = A x in FP32, with sums in FP64; see solvers::CudaSystem::multiply_floats().
  void queue_float_product(DeviceSpan<const float> x, DeviceSpan<float> y,
                           DeviceSpan<double> partials, StreamRef stream);
  // Whether queue_float_multi_product() exists, after prepare_floats(): on one rank only.
  bool multiplies_float_vectors() const {
    return !exchange_ && narrow_ && narrow_->multiplies_vectors();
  }
  // Y = A X for vectors side by side, as queue_float_product() does it for one vector.
  void queue_float_multi_product(DeviceMultiVector<const float> x, DeviceMultiVector<float> y,
                                 StreamRef stream) {
    narrow_->multi_multiply(x, y, stream);
  }
  // Whether one product serves several vectors, because the kernels have such products on all
  // ranks.
  bool multiplies_vectors() const;
  // Prepares queue_multi_product() for up to `width` vectors in rows of `stride` elements. Throws
  // Error{resource} where the elements of a rank are too many for 32 bits. Collective.
  void prepare_multi_product(std::int64_t stride, std::int64_t width);
  // Y = A X for vectors side by side in order(), as queue_product() does it for one vector. One
  // exchange serves all vectors. It sends all the vectors that prepare_multi_product() was told of
  // for the stride of X. Needs multiplies_vectors().
  void queue_multi_product(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                           StreamRef stream);
  // The minimum of the microseconds of some products with `width` vectors by the kernel that a loop
  // on the device uses. Needs multiplies_vectors(). The time is not recorded.
  double measure_multi_product_us(std::int64_t width);
  std::size_t dot_partials() const;                          // 0: the kernels cannot sum x . y
  GpuExchange* exchange() const { return exchange_.get(); }  // null on one rank
  // Asks for further exchanges that can be recorded as this one.
  ExchangeRequest request_for_more() const {
    return {.way = std::string(exchange_ ? exchange_->name() : ""),
            .peer_timeout = exchange_request_.peer_timeout,
            .ranks_per_node = exchange_request_.ranks_per_node,
            .beside = exchange_};
  }
  // The kernel of the local block, which the products above need. It exists for as long as somebody
  // holds the result. The call builds it where choose_row_order() has given it up.
  std::shared_ptr<CudaKernel<double>> share_local_kernel();
  // The caller's row of each row of the products above; empty: the caller's order.
  DeviceSpan<const std::int32_t> order() const { return blocks_->order(); }
  // In order(), as are the rows and columns of local().
  DeviceSpan<const float> device_row_defect() const { return device_row_defect_.view(); }
  // Whether local() is in GPU memory, on all ranks. See DeviceBlocks.
  bool has_entries() const { return all_have_entries_; }
  const BlockedDeviceCsr<double>& local() const { return blocks_->local(); }

  // For a loop of up to `products` products that can take its rows in any order. Measures whether
  // the kernel multiplies P A P^T, in its own order of rows, faster than A, whose rows are in
  // order(). If so, the operator keeps the kernel of P A P^T, and that of A only while somebody
  // holds it. Does nothing on several ranks, for several blocks of rows, for inexact values, where
  // loops may have FP32 vectors, without entries, and at a second call. The time counts as build
  // time.
  void choose_row_order(std::int64_t products, const PermutationRule& rule = {});
  // The kernel of P A P^T; null where it does not replace that of A.
  std::shared_ptr<PermutedKernel> permuted() const { return permuted_; }
  const PermutationTrial& row_order_trial() const { return trial_; }

 private:
  struct Kernels {
    std::shared_ptr<CudaKernel<double>> local;  // null: permuted_ replaces it
    // Null where blocks_->ghost() is.
    std::unique_ptr<CudaKernel<double>> ghost;
  };
  // By csr-vector where the ghost kernel refuses the block; sets `refused` then.
  template <class Builder>
  std::unique_ptr<CudaKernel<double>> build_ghost(const Builder& builder, bool& refused) const;
  std::unique_ptr<CudaKernel<double>> build(std::string_view kernel,
                                            const EachRowBlock<double>& each_block) const;
  EachRowBlock<double> blocks_of_local() const;
  EachRowBlock<double> blocks_of_ghost() const;
  // Calls product(px, py) with px = P x for the order P, and sets y to P^T py.
  template <class Product>
  void in_order(DeviceSpan<const double> x, DeviceSpan<double> y,
                DeviceSpan<const std::int32_t> order, StreamRef stream, const Product& product);
  // Calls around(part, work) for each part of the product, where work() queues that part.
  template <class Around>
  void product(Kernels& kernels, DeviceSpan<const double> x, DeviceSpan<double> y,
               DeviceSpan<double> partials, StreamRef stream, const Around& around);
  void find_row_defect();
  // Gives the local kernel its values block by block, where the GPU holds no entries.
  void update_by_blocks();
  // The halo of several vectors side by side.
  struct MultiHalo {
    HaloPlan plan;
    std::int64_t width = 0;
    std::unique_ptr<GpuExchange> exchange;
  };
  // The kernel that a loop uses whose rows may be in any order.
  CudaKernel<double>& loop_kernel() const {
    return permuted_ ? permuted_->kernel() : *kernels_.local;
  }
  // Copies x to x_, calls product(), which multiplies x_ into y_, and copies y_ to y. Returns the
  // seconds of all three.
  template <class Product>
  double staged(std::span<const double> x, std::span<double> y, const Product& product);

  Stream stream_;
  std::shared_ptr<DeviceBlocks> blocks_;
  std::uint64_t values_version_ = 0;  // of the values that the kernels have
  Kernels kernels_;
  DeviceBuffer<float> device_row_defect_;
  Kernels exact_;  // by albus, which needs no layout of its own; empty unless inexact()
  bool takes_floats_ = false;
  bool all_have_entries_ = true;
  std::optional<NarrowKernel> narrow_;
  std::shared_ptr<PermutedKernel> permuted_;
  PermutationTrial trial_;
  DeviceBuffer<double> permuted_x_, permuted_y_;  // of in_order(); made at the first use
  ExchangeRequest exchange_request_;
  std::shared_ptr<GpuExchange> exchange_;
  std::map<std::int64_t, MultiHalo> multi_halos_;  // by stride
  bool all_multiply_vectors_ = false;              // the kernels of all ranks

  // For vectors in host memory; allocated at the first use.
  PinnedBuffer<double> x_pinned_, y_pinned_;
  DeviceBuffer<double> x_, y_;
  double staged_seconds_ = 0;
  std::int64_t staged_products_ = 0;

  EventRing events_;
};

}  // namespace trireme
