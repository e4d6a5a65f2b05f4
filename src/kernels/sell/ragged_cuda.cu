// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor of ragged rows: one warp multiplies one slice after the other. ragged.hpp
// documents the layout and the bytes moved. The result is deterministic: the order in which a row
// is summed depends on the layout only.
//
// Where most columns are near the diagonal, a multiprocessor has one block of 1,024 threads, which
// takes a share of consecutive slices with the same number of steps as all others: its 32 warps
// work on neighbouring rows, and the L1 cache holds the x that these share (H200, log-normal rows:
// 88 us, and 119 with 8 slices per block). Other matrices have blocks of 8 slices, which the GPU
// shares out while it runs (random graph: 525 and 608 us).
#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/device.hpp"
#include "kernels/sell/ragged_device_layout.hpp"
#include "kernels/sell/ragged_product.cuh"
#include "kernels/sell/ragged_vectors.hpp"

namespace trireme::sell {
namespace {

// The warps of a block take the slices of its share in turn.
template <int threads, bool with_dot, int lane_rows, class Stored, class Vector>
__global__ void __launch_bounds__(threads, 1024 / threads)
    multiply_ragged(RaggedProduct<Stored, Vector> p) {
  constexpr int warps = threads / kLanes;
  const int lane = threadIdx.x % kLanes;
  const auto block = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t first = p.shares ? __ldg(p.shares + block) : block * warps;
  const std::int32_t end = p.shares ? __ldg(p.shares + block + 1) : min(first + warps, p.a.count);
  std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x) / kLanes;
  double dot = 0;
  if (i < end) {
    RaggedSlice slice = p.a.slice(i);
    for (;;) {
      const std::int32_t after = i + warps;
      const RaggedSlice next = after < end ? p.a.slice(after) : slice;
      dot += multiply_slice<with_dot, lane_rows>(p, slice, i, lane);
      if (after >= end) break;
      i = after;
      slice = next;
    }
  }
  if constexpr (with_dot) {
    dot = block_sum<threads>(dot);
    if (threadIdx.x == 0) p.dots[blockIdx.x] = dot;
  }
}

// Sets shares[b] to the first slice of block b. A slice costs its steps and one step more.
__global__ void share_slices(std::int32_t blocks, std::int32_t count, std::int64_t steps,
                             const RaggedSlice* slices, std::int32_t* shares) {
  const std::int32_t block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block > blocks) return;
  const std::int64_t target = (steps + count) * block / blocks;
  std::int32_t low = 0, high = count;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (slices[middle].first_step + static_cast<std::int64_t>(middle) < target)
      low = middle + 1;
    else
      high = middle;
  }
  shares[block] = low;
}

template <class Vector>
class RaggedCuda final : public CudaKernel<Vector> {
  static constexpr bool kMultipliesVectors = std::is_floating_point_v<Vector>;  // not FP16

 public:
  RaggedCuda(const DeviceCsr<Vector>& matrix, StoreFp32 store_fp32, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        store_fp32_(store_fp32),
        layout_(build_ragged_on_device(matrix, store_fp32, steps_, stream)),
        parts_(layout_.parts, stream),
        arrived_(layout_.cut_rows.size(), stream) {
    fill_zero(arrived_.span(), stream);
    if constexpr (kMultipliesVectors) vectors_ = RaggedVectors<Vector>(layout_, stream);
    const auto count = static_cast<std::int32_t>(layout_.slices.size());
    if (layout_.local) {
      blocks_ = multiprocessors();
      shares_ = DeviceBuffer<std::int32_t>(blocks_ + 1, stream);
      share_slices<<<blocks_ / 256 + 1, 256, 0, stream>>>(blocks_, count, layout_.steps,
                                                          layout_.slices.data(), shares_.data());
      check_launch();
    } else {
      constexpr int warps = tuning::kFarThreads / kLanes;
      blocks_ = (count + warps - 1) / warps;
    }
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    run<false>({.x = x.data(), .y = y.data(), .add = accumulate == Accumulate::yes}, stream);
  }

  bool multiplies_vectors() const override { return kMultipliesVectors; }
  void multi_multiply(DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                      Accumulate accumulate, StreamRef stream) override {
    if constexpr (kMultipliesVectors)
      vectors_.multiply(layout_, x, y, accumulate == Accumulate::yes, diagonal_, stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    fill_device_values(row_ptr_, values, store_fp32_, layout_, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = layout_.stored_bytes(),
            .padding_ratio = static_cast<double>(layout_.stored_entries()) / layout_.nnz - 1,
            .steps = steps_};
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override {
    return layout_.rows == layout_.cols ? blocks_ + layout_.cut_rows.size() : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    run<true>({.x = x.data(), .y = y.data(), .dots = partials.data()}, stream);
  }

 private:
  // What a product gets from its caller.
  struct Operands {
    const Vector* x = nullptr;
    Vector* y = nullptr;
    bool add = false;
    double* dots = nullptr;
  };

  template <bool with_dot>
  void run(const Operands& operands, StreamRef stream) const {
    with_ragged_slices<Vector>(
        layout_, [&]<class Stored>(auto lane_rows, const RaggedSlices<Stored>& slices) {
          launch<with_dot, decltype(lane_rows)::value>(
              RaggedProduct<Stored, Vector>{.a = slices,
                                            .shares = layout_.local ? shares_.data() : nullptr,
                                            .parts = parts_.data(),
                                            .arrived = arrived_.data(),
                                            .x = operands.x,
                                            .diagonal = diagonal_.data(),
                                            .y = operands.y,
                                            .add = operands.add,
                                            .dots = operands.dots},
              stream);
        });
  }
  template <bool with_dot, int lane_rows, class Product>
  void launch(const Product& product, StreamRef stream) const {
    if (layout_.local)
      multiply_ragged<tuning::kNearThreads, with_dot, lane_rows>
          <<<blocks_, tuning::kNearThreads, 0, stream>>>(product);
    else
      multiply_ragged<tuning::kFarThreads, with_dot, lane_rows>
          <<<blocks_, tuning::kFarThreads, 0, stream>>>(product);
    check_launch();
  }

  DeviceSpan<const std::int32_t> row_ptr_;
  StoreFp32 store_fp32_;
  std::vector<BuildStep> steps_;
  RaggedDeviceLayout<Vector> layout_;
  DeviceBuffer<std::int32_t> shares_;
  DeviceBuffer<Sum<Vector>> parts_;
  std::conditional_t<kMultipliesVectors, RaggedVectors<Vector>, std::monostate> vectors_;
  DeviceBuffer<std::uint32_t> arrived_;
  DeviceSpan<const float> diagonal_;
  int blocks_ = 0;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_ragged_cuda(const DeviceCsr<Value>& matrix,
                                                     StoreFp32 store_fp32, StreamRef stream) {
  return std::make_unique<RaggedCuda<Value>>(matrix, store_fp32, stream);
}

template std::unique_ptr<CudaKernel<double>> build_ragged_cuda(const DeviceCsr<double>&, StoreFp32,
                                                               StreamRef);
template std::unique_ptr<CudaKernel<float>> build_ragged_cuda(const DeviceCsr<float>&, StoreFp32,
                                                              StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_ragged_cuda(const DeviceCsr<Half>&, StoreFp32,
                                                             StreamRef);

}  // namespace trireme::sell
