// SPDX-License-Identifier: BSD-3-Clause
// Sums over a warp and over a block, in an order that depends on the shape only: same bits each
// run.
#pragma once

#include <cuda_runtime.h>

namespace trireme {

inline constexpr unsigned kFullWarp = 0xffffffffu;

// The sum over each aligned group of `width` lanes (a power of two), in the group's first lane.
template <int width = 32, class Number>
__device__ __forceinline__ Number warp_sum(Number value) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(kFullWarp, value, offset, width);
  return value;
}

// The sum over the block, in thread 0. Every thread calls it; threads is blockDim.x.
template <int threads, class Number>
__device__ __forceinline__ Number block_sum(Number value) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  __shared__ Number warp_totals[threads / 32];
  value = warp_sum(value);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warp_totals[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < threads / 32 ? warp_totals[threadIdx.x] : Number{};
    value = warp_sum(value);
  }
  return value;
}

}  // namespace trireme
