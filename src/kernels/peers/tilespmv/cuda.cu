// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one warp multiplies one task, which is a row of tiles, or a part of one that
// has many tiles or entries. product.cuh documents the product of a task, layout.hpp the layout and
// the bytes moved.
//
//   row of tiles   |<-- task 0 -->|<-- task 1 -->|<-- task 2 -->|
//   tiles            32 at most
//
// The tasks of a split row store their sums. The warp that finishes last adds them up in the order
// of the tasks. Which warp that is changes from run to run; the order of the additions does not, so
// that the result has the same bits in each run.
#include <algorithm>
#include <utility>

#include "device/device.hpp"
#include "kernels/peers/tilespmv/product.cuh"
#include "kernels/peers/tilespmv/tilespmv.hpp"

namespace trireme {
namespace {

using tilespmv::kTile;
using tilespmv::Task;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kDotBlocks = 8;  // thread blocks per multiprocessor of a launch that sums x . A x

// Where the tasks of split rows exchange their sums.
template <class Number>
struct SplitRows {
  Number* __restrict__ sums;       // 16 per task
  unsigned* __restrict__ arrived;  // 1 per split row: finished tasks; 0 between products
};

// Called by a warp whose lanes 0 to 15 have the sums of a task of a split row. Returns true in the
// warp that finishes the row, and sets `sum` to the sums of the row in its lanes 0 to 15.
template <class Number>
__device__ bool finish_split_row(const SplitRows<Number>& split, const Task& task,
                                 std::int64_t number, Number& sum) {
  const int lane = threadIdx.x % 32;
  if (lane < kTile) __stcg(split.sums + number * kTile + lane, sum);
  __threadfence();
  __syncwarp();
  bool is_last = false;
  if (lane == 0) {
    const auto others = static_cast<unsigned>(task.parts - 1);
    is_last = atomicInc(split.arrived + task.split_row, others) == others;  // back to 0
  }
  if (!__shfl_sync(kFullWarp, is_last, 0)) return false;
  __threadfence();
  // Each half adds every second task.
  sum = 0;
  const std::int64_t first = number - task.part;
  for (std::int64_t part = lane / kTile; part < task.parts; part += 2)
    sum += __ldcg(split.sums + (first + part) * kTile + lane % kTile);
  sum += __shfl_down_sync(kFullWarp, sum, kTile);
  return true;
}

// `partials` has one number per thread block, and then one per split row.
template <bool with_dot, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads)
    multiply_tasks(tilespmv::DeviceTiles<Stored> a, std::int64_t task_count,
                   const Task* __restrict__ tasks, SplitRows<Sum<Vector>> split,
                   const Vector* __restrict__ x, Vector* __restrict__ y, bool add,
                   double* __restrict__ partials) {
  using Number = Sum<Vector>;
  __shared__ tilespmv::WarpMemory<Number> memory[kWarps];
  const int lane = threadIdx.x % 32;
  tilespmv::WarpProduct<Stored, Vector> product(a, x, memory[threadIdx.x / 32]);
  double dot = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kWarps;
  std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  for (; number < task_count; number += stride) {
    const Task task = tasks[number];
    Number sum = product.multiply(task);
    if (task.parts > 1 && !finish_split_row(split, task, number, sum)) continue;
    double row_dot = 0;
    if (lane < tilespmv::tile_size(a.rows, task.tile_row)) {
      const std::int64_t row = static_cast<std::int64_t>(kTile) * task.tile_row + lane;
      store_or_add(y + row, sum, add);
      if constexpr (with_dot) row_dot = static_cast<double>(sum) * load<Number>(x + row);
    }
    if constexpr (with_dot) {
      if (task.parts == 1) {
        dot += row_dot;
      } else {
        row_dot = warp_sum(row_dot);
        if (lane == 0) partials[gridDim.x + task.split_row] = row_dot;
      }
    }
  }
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[blockIdx.x] = dot;
  }
}

template <class Stored, class Vector>
class TileSpmvCuda final : public CudaKernel<Vector> {
 public:
  TileSpmvCuda(const DeviceCsr<Vector>& matrix, StreamRef stream)
      : layout_(tilespmv::build_on_device<Stored>(matrix, stream)),
        split_sums_(layout_.split_rows > 0 ? layout_.tasks.size() * kTile : 0, stream),
        arrived_(layout_.split_rows, stream),
        blocks_(static_cast<int>((tasks() + kWarps - 1) / kWarps)),
        dot_blocks_(std::clamp(multiprocessors() * kDotBlocks, 1, std::max(1, blocks_))) {
    fill_zero(arrived_.span(), stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (blocks_ > 0) launch<false>(x, y, accumulate == Accumulate::yes, blocks_, nullptr, stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    tilespmv::store_device_values<Stored>(values, layout_, stream);
  }

  KernelStatistics statistics() const override {
    const auto stored = static_cast<double>(layout_.values.size());
    return {.stored_bytes = layout_.stored_bytes(),
            .padding_ratio = layout_.nnz > 0 ? stored / static_cast<double>(layout_.nnz) - 1 : 0.0,
            .steps = layout_.steps};
  }

  std::size_t dot_partials() const override {
    return layout_.rows == layout_.cols ? dot_blocks_ + layout_.split_rows : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    launch<true>(x, y, false, dot_blocks_, partials.data(), stream);
  }

 private:
  std::int64_t tasks() const { return static_cast<std::int64_t>(layout_.tasks.size()); }

  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, bool add, int blocks,
              double* partials, StreamRef stream) {
    const tilespmv::DeviceTiles<Stored> a{layout_.rows,
                                          layout_.cols,
                                          layout_.tile_ptr.data(),
                                          layout_.tile_col_idx.data(),
                                          layout_.tile_format.data(),
                                          layout_.tile_nnz.data(),
                                          layout_.tile_index.data(),
                                          layout_.indices.data(),
                                          layout_.values.data(),
                                          layout_.deferred_ptr.data(),
                                          layout_.deferred_col_idx.data(),
                                          layout_.values.data() + layout_.tile_values};
    multiply_tasks<with_dot, Stored, Vector><<<blocks, kThreads, 0, stream>>>(
        a, tasks(), layout_.tasks.data(),
        SplitRows<Sum<Vector>>{split_sums_.data(), arrived_.data()}, x.data(), y.data(), add,
        partials);
    check_launch();
  }

  tilespmv::DeviceLayout<Stored> layout_;
  DeviceBuffer<Sum<Vector>> split_sums_;
  DeviceBuffer<unsigned> arrived_;
  int blocks_;      // thread blocks of a launch: one warp per task
  int dot_blocks_;  // of a launch that sums x . A x
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_tilespmv_cuda(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream) {
  return std::make_unique<TileSpmvCuda<Value, Value>>(matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_tilespmv_mixed_cuda(const DeviceCsr<double>& matrix,
                                                              StreamRef stream) {
  return std::make_unique<TileSpmvCuda<float, double>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_tilespmv_cuda(const DeviceCsr<double>&,
                                                                 StreamRef);
template std::unique_ptr<CudaKernel<float>> build_tilespmv_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
