// SPDX-License-Identifier: BSD-3-Clause
// The four CUDA kernels that share the nonzeros, 32 per thread or warp. nnz_thread is nnz_tile with
// one vector per thread. heads.cuh says what becomes of a row that is cut.
//
// `carries` has kTile elements per block.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "kernels/peers/spmm/heads.cuh"

namespace trireme::spmm {

inline constexpr int kWarps = kThreads / kLanes;  // per block

template <int kVectors, class Value>
using HeadsOfThreads = Heads<kThreads, kVectors, Value>;
template <int kVectors, class Value>
using HeadsOfWarps = Heads<kWarps, kVectors, Value>;

// Grid: a thread per 32 nonzeros, a block in y per kVectors vectors.
template <int kVectors, class Value>
__global__ void __launch_bounds__(kThreads) nnz_tile(DeviceTile<Value> all, Value* carries) {
  extern __shared__ __align__(16) unsigned char shared[];
  HeadsOfThreads<kVectors, Value> heads(shared);
  const int first_vector = blockIdx.y * kVectors;
  const DeviceTile<Value> tile = all.vectors(first_vector, kVectors);
  const std::int64_t block_begin = blockIdx.x * kPerBlockOfThreads;
  const int unit = threadIdx.x;
  const std::int64_t begin = min(tile.nnz, block_begin + unit * kNonzeros);
  const std::int64_t end = min(tile.nnz, begin + kNonzeros);

  heads.clear(unit);
  std::int32_t row = begin < end ? tile.row_of(begin) : 0;
  for (std::int64_t k = begin; k < end;) {
    const std::int64_t first = k;
    const std::int64_t stop = min(end, std::int64_t{tile.row_ptr[row + 1]});
    Value sums[kVectors] = {};
    for (; k < stop; ++k) multiply_add<kVectors>(tile, k, sums);
    if (tile.row_ptr[row] == first) {
      store_row<kVectors>(tile, row, sums);
    } else {
      heads.set_row(unit, row);
#pragma unroll
      for (int j = 0; j < kVectors; ++j) heads.sum(unit, j) = sums[j];
    }
    if (k < end) row = tile.row_of(k, row + 1);
  }
  heads.add(tile, block_begin, carries + blockIdx.x * std::int64_t{kTile} + first_vector);
}

// Grid: a warp per 32 nonzeros, a lane per nonzero, all vectors in each lane.
template <int kVectors, class Value>
__global__ void __launch_bounds__(kThreads) nnz_warp(DeviceTile<Value> tile, Value* carries) {
  extern __shared__ __align__(16) unsigned char shared[];
  HeadsOfWarps<kVectors, Value> heads(shared);
  constexpr std::int32_t kNoRow = -1;  // of a lane behind the last nonzero
  const std::int64_t block_begin = blockIdx.x * kPerBlockOfWarps;
  const int unit = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const std::int64_t k = block_begin + unit * kNonzeros + lane;
  const std::int32_t row = k < tile.nnz ? tile.row_of(k) : kNoRow;

  Value sums[kVectors] = {};
  if (row != kNoRow) multiply_add<kVectors>(tile, k, sums);
  const bool one_row = __shfl_sync(kFullWarp, row, 0) == __shfl_sync(kFullWarp, row, kLanes - 1);
  if (one_row) {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) sums[j] = warp_sum(sums[j]);
  } else {
#pragma unroll
    for (int offset = 1; offset < kLanes; offset *= 2) {
      const bool same = __shfl_down_sync(kFullWarp, row, offset) == row && lane + offset < kLanes;
#pragma unroll
      for (int j = 0; j < kVectors; ++j) {
        const Value other = __shfl_down_sync(kFullWarp, sums[j], offset);
        if (same) sums[j] += other;
      }
    }
  }

  const std::int32_t row_before = __shfl_up_sync(kFullWarp, row, 1);
  if (lane == 0) heads.clear(unit);
  if (row != kNoRow && (lane == 0 || row_before != row)) {
    if (tile.row_ptr[row] == k) {
      store_row<kVectors>(tile, row, sums);
    } else {  // lane 0 only, because every other lane here begins its row
      heads.set_row(unit, row);
#pragma unroll
      for (int j = 0; j < kVectors; ++j) heads.sum(unit, j) = sums[j];
    }
  }
  heads.add(tile, block_begin, carries + blockIdx.x * std::int64_t{kTile});
}

// Grid: a warp per 32 nonzeros. Shuffles bring each nonzero and its row to all lanes, and lane j
// sums for vector j.
template <class Value>
__global__ void __launch_bounds__(kThreads) nnz_cache(DeviceTile<Value> tile, Value* carries) {
  extern __shared__ __align__(16) unsigned char shared[];
  HeadsOfWarps<kLanes, Value> heads(shared);
  const std::int64_t block_begin = blockIdx.x * kPerBlockOfWarps;
  const int unit = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const bool has_vector = lane < tile.width;
  const std::int64_t begin = block_begin + unit * kNonzeros;
  const int count =
      static_cast<int>(max(std::int64_t{0}, min(std::int64_t{kNonzeros}, tile.nnz - begin)));
  int column = 0;
  std::int32_t row = 0;
  Value value{};
  if (lane < count) {
    column = load<int>(tile.col_idx + begin + lane);
    value = load<Value>(tile.values + begin + lane);
    row = tile.row_of(begin + lane);
  }
  if (lane == 0) heads.clear(unit);

  std::int64_t first = begin;  // nonzero of the part that is summed
  Value sum{};
  const auto end_part = [&](std::int32_t of) {
    if (tile.row_ptr[of] == first) {
      if (has_vector) store_or_add(tile.y_of(of) + lane, sum, tile.add);
    } else {
      if (lane == 0) heads.set_row(unit, of);
      heads.sum(unit, lane) = sum;
    }
  };
  std::int32_t current = __shfl_sync(kFullWarp, row, 0);
#pragma unroll 8
  for (int source = 0; source < count; ++source) {
    const std::int32_t r = __shfl_sync(kFullWarp, row, source);
    const int c = __shfl_sync(kFullWarp, column, source);
    const Value v = __shfl_sync(kFullWarp, value, source);
    if (r != current) {  // the same in all lanes
      end_part(current);
      current = r;
      first = begin + source;
      sum = Value{};
    }
    if (has_vector) sum += v * load<Value>(tile.x + c * tile.x_stride + lane);
  }
  if (count > 0) end_part(current);
  heads.add(tile, block_begin, carries + blockIdx.x * std::int64_t{kTile});
}

}  // namespace trireme::spmm
