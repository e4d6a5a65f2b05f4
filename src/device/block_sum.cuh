// SPDX-License-Identifier: BSD-3-Clause
// Sums over a warp and over a block. The order of the additions depends on the shape only, so that
// every run gives the same bits.
#pragma once

#include <cuda_runtime.h>

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

}  // namespace trireme
