// SPDX-License-Identifier: BSD-3-Clause
// The exchange between the blocks of a cooperative grid, through L2.
//
//   product:  own part of x to global memory | all blocks arrive | gather the columns of other
//             blocks from global memory, own columns from shared memory
//   sums:     own partial sums to global memory | all blocks arrive | every block adds the partial
//             sums of all blocks in the same order
// One thread per block increments and polls one common word. (An exchange in which each number
// carries its own flag, and its readers poll that flag, saves the second trip through L2. That
// exchange was slower: its polling delays the writes that it waits for.)
#pragma once

#include "device/block_sum.cuh"
#include "solvers/executors/persistent_arguments.cuh"

namespace trireme::solvers {

class GridExchange {
 public:
  static constexpr int rows_in_flight = 2;  // rows that a thread handles at once in a pass

  __device__ __forceinline__ GridExchange(const PersistentArguments& a, const void* /*shared*/)
      : a_(a) {}

  // Encodes a column that another block owns as a negative number.
  __device__ __forceinline__ std::int32_t code_of(std::int32_t column) const { return ~column; }

  // Makes this block's part of x, rows first .. last - 1, readable by all blocks, and waits for the
  // parts of the other blocks. Called by every thread. `x` is indexed by global row.
  __device__ __forceinline__ void offer_vector(const double* x, std::int64_t first,
                                               std::int64_t last) {
    twin_ = a_.twins + (++products_ & 1) * a_.rows;
    for (std::int64_t i = first + threadIdx.x; i < last; i += blockDim.x) __stcg(twin_ + i, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    __syncthreads();
  }
  // Reads an element of x, from this block if `code` is 0 or more, else from another block.
  __device__ __forceinline__ double read(const double* own_x, std::int32_t code) const {
    return code >= 0 ? own_x[code] : __ldcg(twin_ + ~code);
  }

  // Offers the block's sums, which are the same in every lane. If `asks`, block 0 also offers
  // `stop`, the host's wish to stop. Called by warp 0; meet() must follow.
  __device__ __forceinline__ void offer_sums(const double* sums, int count, bool asks, bool stop) {
    partials_ = a_.partials + (++sums_ & 1) * kMaxExchanged * gridDim.x;
    if (threadIdx.x != 0) return;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count) partials_[k * gridDim.x + blockIdx.x] = sums[k];
    if (asks && blockIdx.x == 0) partials_[count * gridDim.x] = stop;
  }
  // Waits until all blocks have arrived. Called by every thread.
  __device__ __forceinline__ void meet() {
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    if (threadIdx.x < 32) __syncwarp();
  }
  // Adds the sums of all blocks in a fixed order: the same bits in every lane of every block.
  // Returns the wish to stop that block 0 offered, if `asks`. Called by warp 0.
  __device__ __forceinline__ bool collect_sums(double* sums, int count, bool asks) const {
    constexpr int max_parts = (kMaxPersistentBlocks + 31) / 32;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k) {
      if (k >= count) continue;
      double part[max_parts];
#pragma unroll
      for (int j = 0; j < max_parts; ++j)
        part[j] =
            lane + 32 * j < gridDim.x ? __ldcg(partials_ + k * gridDim.x + lane + 32 * j) : 0.0;
      sums[k] = 0;
#pragma unroll
      for (int j = 0; j < max_parts; ++j) sums[k] += part[j];
    }
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count)
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2)
          sums[k] += __shfl_xor_sync(kFullWarp, sums[k], offset);
    return asks && __ldcg(partials_ + count * gridDim.x) != 0;
  }

  // Ends the exchange. Block 0 returns when all blocks have called close(); the other blocks return
  // at once. Called by every thread.
  __device__ __forceinline__ void close() {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
      arrive_and_wait();
      *a_.arrivals = 0;  // no block polls the word after this point
    } else {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a_.arrivals) : "memory");
    }
  }

 private:
  // Returns when every block has arrived as often as this one. Called by one thread, after a
  // barrier of its block. After the block's next barrier, all its threads see the writes that the
  // other blocks made before they arrived.
  __device__ __forceinline__ void arrive_and_wait() const {
    const unsigned target = (arrived_ + 1) * gridDim.x;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a_.arrivals) : "memory");
    unsigned seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(a_.arrivals)
                   : "memory");
    } while (static_cast<int>(seen - target) < 0);  // also correct when the count wraps
  }

  const PersistentArguments& a_;
  double* twin_ = nullptr;
  double* partials_ = nullptr;
  unsigned sums_ = 0, products_ = 0;  // odd or even: which of two sets of memory is in use
  unsigned arrived_ = 0;              // how often this block has arrived
};

}  // namespace trireme::solvers
