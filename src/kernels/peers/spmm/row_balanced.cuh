// SPDX-License-Identifier: BSD-3-Clause
// The three CUDA kernels that share the rows. row_balanced.hpp has the drawings. The result is
// deterministic: the order of the additions depends on the row only.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "kernels/peers/spmm/device_product.cuh"

namespace trireme::spmm {

__device__ __forceinline__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

// Grid: a thread per row, a block in y per vector.
template <class Value>
__global__ void __launch_bounds__(kThreads) row_thread(DeviceTile<Value> all) {
  const std::int64_t row = global_thread();
  if (row >= all.rows) return;
  const DeviceTile<Value> one = all.vectors(blockIdx.y, 1);
  Value sum[1] = {};
  const std::int64_t end = one.row_ptr[row + 1];
  for (std::int64_t k = one.row_ptr[row]; k < end; ++k) multiply_add<1>(one, k, sum);
  store_row<1>(one, row, sum);
}

// Grid: a warp per row. Lane j sums for vector j.
template <class Value>
__global__ void __launch_bounds__(kThreads) row_warp(DeviceTile<Value> tile) {
  const std::int64_t row = global_thread() / kLanes;
  if (row >= tile.rows) return;  // the whole warp
  const int lane = threadIdx.x % kLanes;
  const bool has_vector = lane < tile.width;
  const std::int64_t end = tile.row_ptr[row + 1];
  Value sum{};
  for (std::int64_t begin = tile.row_ptr[row]; begin < end; begin += kLanes) {
    const int count = static_cast<int>(min(std::int64_t{kLanes}, end - begin));
    int column = 0;
    Value value{};
    if (lane < count) {
      column = load<int>(tile.col_idx + begin + lane);
      value = load<Value>(tile.values + begin + lane);
    }
#pragma unroll 8
    for (int source = 0; source < count; ++source) {
      const int c = __shfl_sync(kFullWarp, column, source);
      const Value v = __shfl_sync(kFullWarp, value, source);
      if (has_vector) sum += v * load<Value>(tile.x + c * tile.x_stride + lane);
    }
  }
  if (has_vector) store_or_add(tile.y_of(row) + lane, sum, tile.add);
}

// Grid: a warp per row. Each lane multiplies its nonzeros by all vectors; kVectors >= the width.
template <int kVectors, class Value>
__global__ void __launch_bounds__(kThreads) row_reduce(DeviceTile<Value> tile) {
  const std::int64_t row = global_thread() / kLanes;
  if (row >= tile.rows) return;  // the whole warp
  const int lane = threadIdx.x % kLanes;
  const std::int64_t end = tile.row_ptr[row + 1];
  Value sums[kVectors] = {};
  for (std::int64_t k = tile.row_ptr[row] + lane; k < end; k += kLanes)
    multiply_add<kVectors>(tile, k, sums);
#pragma unroll
  for (int j = 0; j < kVectors; ++j) sums[j] = warp_sum(sums[j]);
  if (lane == 0) store_row<kVectors>(tile, row, sums);
}

}  // namespace trireme::spmm
