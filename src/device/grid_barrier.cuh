// SPDX-License-Identifier: BSD-3-Clause
// A barrier of all blocks of a cooperative launch, through a word in global memory.
#pragma once

#include <cuda_runtime.h>

namespace trireme {

// Every thread of every block makes the same calls. `arrivals` is one word that is 0 before and
// after the launch.
class GridBarrier {
 public:
  __device__ __forceinline__ explicit GridBarrier(unsigned* arrivals) : arrivals_(arrivals) {}

  // Returns when all blocks have called it as often. What threads wrote before it, all threads see
  // after it, where they read through L2.
  __device__ __forceinline__ void meet() {
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    __syncthreads();
  }
  // Must be the last call. Block 0 waits for the others and resets the word.
  __device__ __forceinline__ void close() {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
      arrive_and_wait();
      *arrivals_ = 0;  // no block polls the word after this point
    } else {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals_) : "memory");
    }
  }

 private:
  __device__ __forceinline__ void arrive_and_wait() const {
    const unsigned target = (arrived_ + 1) * gridDim.x;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals_) : "memory");
    unsigned seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals_) : "memory");
    } while (static_cast<int>(seen - target) < 0);
  }

  unsigned* arrivals_;
  unsigned arrived_ = 0;
};

}  // namespace trireme
