// SPDX-License-Identifier: BSD-3-Clause
// The segmented sum of a thread block: each thread has summed the rows within its consecutive
// nonzeros, and gets the part of its first row that lies in the threads before it.
//
//   nonzeros   | a a a b | b b b b | b c c c |
//   thread       0         1         2          carry_in of thread 2: the b of threads 0 and 1
//
// The order of the additions depends on the places of the row starts only, so that every run gives
// the same bits.
#pragma once

#include "device/block_sum.cuh"

namespace trireme {

// Shared memory of carry_in().
template <int threads, class Number>
struct CarryMemory {
  Number sums[threads / 32];
  bool starts[threads / 32];
};

// `part` is the sum of the thread's nonzeros from its last row start on, or of all of them where no
// row starts among them; `starts` says whether one does. Returns the sum of the nonzeros of earlier
// threads that belong to the row that is open where the thread's nonzeros begin. All threads of the
// block call it; `threads` is blockDim.x.
template <int threads, class Number>
__device__ __forceinline__ Number carry_in(Number part, bool starts,
                                           CarryMemory<threads, Number>& memory) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned starting = __ballot_sync(kFullWarp, starts);
  const unsigned up_to_lane = starting & (0xffffffffu >> (31 - lane));
  // The lane that holds the start of the row that is open behind this lane, or the first lane.
  const int origin = up_to_lane != 0 ? 31 - __clz(static_cast<int>(up_to_lane)) : 0;
  Number sum = part;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const Number before = __shfl_up_sync(kFullWarp, sum, offset);
    if (lane - offset >= origin) sum += before;
  }
  if (lane == 31) {
    memory.sums[warp] = sum;
    memory.starts[warp] = starting != 0;
  }
  Number carry = __shfl_up_sync(kFullWarp, sum, 1);
  __syncthreads();
  const bool open_at_warp = (starting & ((1u << lane) - 1)) == 0;
  if (lane == 0) carry = Number{};
  if (open_at_warp) {
    Number of_warps{};
    for (int w = 0; w < warp; ++w)
      of_warps = memory.starts[w] ? memory.sums[w] : of_warps + memory.sums[w];
    carry += of_warps;
  }
  return carry;
}

}  // namespace trireme
