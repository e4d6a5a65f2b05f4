// SPDX-License-Identifier: BSD-3-Clause
// How the blocks of a cooperative grid exchange: through L2.
//
//   product:  own part of x to global memory | all blocks arrive | gather from there what other
//             blocks own, from shared memory the rest
//   sums:     own partial sums to global memory | all blocks arrive | every block adds those of all
//             blocks in the same order
// One thread a block counts and polls one word. (Numbers that carry their own flags, polled by
// whoever needs them, save the second trip through L2 but were slower: the polling delays what it
// waits for.)
#pragma once

#include "device/block_sum.cuh"
#include "solvers/executors/persistent_arguments.cuh"

namespace trireme::solvers {

class GridExchange {
 public:
  static constexpr int rows_in_flight = 2;  // of a pass

  __device__ __forceinline__ GridExchange(const PersistentArguments& a, const void* /*shared*/)
      : a_(a) {}

  // A column of another block as a number below 0.
  __device__ __forceinline__ std::int32_t code_of(std::int32_t column) const { return ~column; }

  // By every thread: from here on the blocks may read what each holds of x.
  __device__ __forceinline__ void offer_vector(const double* x, std::int64_t first,
                                               std::int64_t last) {
    twin_ = a_.twins + (++products_ & 1) * a_.rows;
    for (std::int64_t i = first + threadIdx.x; i < last; i += blockDim.x) __stcg(twin_ + i, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    __syncthreads();
  }
  // A number of the block's own x, or of another block's.
  __device__ __forceinline__ double read(const double* own_x, std::int32_t code) const {
    return code >= 0 ? own_x[code] : __ldcg(twin_ + ~code);
  }

  // By warp 0: the block's sums, the same in every lane; block 0 adds its wish to stop.
  __device__ __forceinline__ void offer_sums(const double* sums, int count, bool asks, bool stop) {
    partials_ = a_.partials + (++sums_ & 1) * kMaxExchanged * gridDim.x;
    if (threadIdx.x != 0) return;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count) partials_[k * gridDim.x + blockIdx.x] = sums[k];
    if (asks && blockIdx.x == 0) partials_[count * gridDim.x] = stop;
  }
  // By every thread.
  __device__ __forceinline__ void meet() {
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    if (threadIdx.x < 32) __syncwarp();
  }
  // By warp 0: sums over blocks in a fixed order, the same bits in every lane of every block.
  __device__ __forceinline__ bool collect_sums(double* sums, int count, bool asks) const {
    constexpr int most = (kMaxPersistentBlocks + 31) / 32;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k) {
      if (k >= count) continue;
      double part[most];
#pragma unroll
      for (int j = 0; j < most; ++j)
        part[j] =
            lane + 32 * j < gridDim.x ? __ldcg(partials_ + k * gridDim.x + lane + 32 * j) : 0.0;
      sums[k] = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) sums[k] += part[j];
    }
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count)
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2)
          sums[k] += __shfl_xor_sync(kFullWarp, sums[k], offset);
    return asks && __ldcg(partials_ + count * gridDim.x) != 0;
  }

  // By every thread, after the last word: block 0 goes on when all blocks have come.
  __device__ __forceinline__ void close() {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
      arrive_and_wait();
      *a_.arrivals = 0;  // nobody looks any more
    } else {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a_.arrivals) : "memory");
    }
  }

 private:
  // By one thread, after its block's threads have met: returns when every block has come as often,
  // with what they wrote before visible to this block's threads once they have met again.
  __device__ __forceinline__ void arrive_and_wait() const {
    const unsigned target = (arrived_ + 1) * gridDim.x;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a_.arrivals) : "memory");
    unsigned seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(a_.arrivals)
                   : "memory");
    } while (static_cast<int>(seen - target) < 0);  // also when the count wraps
  }

  const PersistentArguments& a_;
  double* twin_ = nullptr;
  double* partials_ = nullptr;
  unsigned sums_ = 0, products_ = 0;  // which of two sets of memory is in use
  unsigned arrived_ = 0;
};

}  // namespace trireme::solvers
