// SPDX-License-Identifier: BSD-3-Clause
// Sums over a warp and over a block, and prefix sums over a block. The order of the additions
// depends on the shape only, so that every run gives the same bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace trireme {

inline constexpr unsigned kFullWarp = 0xffffffffu;

// Sums over each aligned group of `width` lanes, a power of two. The first lane of a group returns
// its sum.
template <int width = 32, class Number>
__device__ __forceinline__ Number warp_sum(Number value) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(kFullWarp, value, offset, width);
  return value;
}

// Sums over the block. Every thread calls it; thread 0 returns the sum. `threads` is blockDim.x.
template <int threads, class Number>
__device__ __forceinline__ Number block_sum(Number value) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  __shared__ Number warp_totals[threads / 32];
  value = warp_sum(value);
  __syncthreads();  // Threads may still read warp_totals in an earlier call.
  if (threadIdx.x % 32 == 0) warp_totals[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < threads / 32 ? warp_totals[threadIdx.x] : Number{};
    value = warp_sum(value);
  }
  return value;
}

struct BlockScan {
  std::int32_t before;  // the sum over the threads before this one
  std::int32_t total;   // the sum over the block
};

// Every thread of the block calls it and gets both sums. `threads` is blockDim.x.
template <int threads>
__device__ __forceinline__ BlockScan block_scan(std::int32_t value) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  __shared__ std::int32_t warp_totals[threads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::int32_t until = value;
  for (int offset = 1; offset < 32; offset *= 2) {
    const std::int32_t other = __shfl_up_sync(kFullWarp, until, offset);
    if (lane >= offset) until += other;
  }
  __syncthreads();  // Threads may still read warp_totals in an earlier call.
  if (lane == 31) warp_totals[warp] = until;
  __syncthreads();
  BlockScan sums{until - value, 0};
#pragma unroll
  for (int w = 0; w < threads / 32; ++w) {
    if (w < warp) sums.before += warp_totals[w];
    sums.total += warp_totals[w];
  }
  return sums;
}

}  // namespace trireme
