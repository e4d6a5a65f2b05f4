// SPDX-License-Identifier: BSD-3-Clause
// The exchange between the blocks of one thread-block cluster. The blocks read and write each
// other's shared memory, and meet at the cluster's hardware barrier. Nothing passes through L2.
//
//   product:  all blocks meet | gather from the shared memory of the block that owns the column
//   sums:     each block writes its sums into every block's shared memory | all blocks meet | every
//             block adds the sums that it received, in the same order
// A vector that was offered must not change until the next sums; every method's algorithm obeys
// this rule. The exchange serves up to 16 blocks on GPUs of compute capability 9.0 or higher. Its
// public functions have the contracts of GridExchange, unless a comment says otherwise.
#pragma once

#include "device/block_sum.cuh"
#include "solvers/executors/persistent_arguments.cuh"

namespace trireme::solvers {

class ClusterExchange {
 public:
  // Rows that a thread handles at once in a pass. Shared memory has a short latency, so that less
  // code is faster than more loads in flight.
  static constexpr int rows_in_flight = 1;

  // Called by every thread. `shared` is the block's dynamic shared memory, which has the same
  // layout in all blocks.
  __device__ __forceinline__ ClusterExchange(const PersistentArguments& a, const void* shared)
      : rows_per_block_(static_cast<std::int32_t>(a.rows_per_block)), base_(address(shared)) {
    meet();  // a block may write another block's shared memory only after that block has started
  }

  // Encodes a column that another block owns. The code is the distance in doubles, positive or
  // negative, from this block's first vector element to that column's element, minus kFar, so that
  // it is always negative.
  __device__ __forceinline__ std::int32_t code_of(std::int32_t column) const {
    const auto bytes = static_cast<std::int32_t>(at_block(base_, column / rows_per_block_) - base_);
    return bytes / std::int32_t{sizeof(double)} + column % rows_per_block_ - kFar;
  }

  __device__ __forceinline__ void offer_vector(const double*, std::int64_t, std::int64_t) {
    meet();
  }
  // Reads an element of x, from this block if `code` is 0 or more, else from another block. Both
  // cases are the same load instruction, so that many loads can be in flight: the byte offset of a
  // code is correct modulo 2^32.
  __device__ __forceinline__ double read(const double* own_x, std::int32_t code) const {
    double value;
    asm volatile("ld.shared::cluster.f64 %0, [%1];"
                 : "=d"(value)
                 : "r"(address(own_x) + 8u * static_cast<std::uint32_t>(code)));
    return value;
  }

  __device__ __forceinline__ void offer_sums(const double* sums, int count, bool asks, bool stop) {
    set_ ^= 1;
    const int to = threadIdx.x;
    if (to >= gridDim.x) return;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count) send(&received(set_, k)[blockIdx.x], to, sums[k]);
    if (asks && blockIdx.x == 0) send(&received(set_, kMaxExchanged - 1)[0], to, stop);
  }
  __device__ __forceinline__ void meet() {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  __device__ __forceinline__ bool collect_sums(double* sums, int count, bool asks) const {
    const int from = threadIdx.x % kMaxClusterBlocks;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count) {
        sums[k] = from < gridDim.x ? received(set_, k)[from] : 0.0;
#pragma unroll
        for (int offset = kMaxClusterBlocks / 2; offset > 0; offset /= 2)
          sums[k] += __shfl_xor_sync(kFullWarp, sums[k], offset);
      }
    return asks && received(set_, kMaxExchanged - 1)[0] != 0;
  }

  __device__ __forceinline__ void close() { meet(); }

 private:
  static constexpr std::int32_t kFar = 1 << 30;  // exceeds the distance between any two blocks

  __device__ __forceinline__ static std::uint32_t address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }
  __device__ __forceinline__ static std::uint32_t at_block(std::uint32_t here, int block) {
    std::uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
    return there;
  }
  __device__ __forceinline__ static void send(const double* place, int block, double value) {
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(at_block(address(place), block)),
                 "d"(value)
                 : "memory");
  }
  // There are two sets, because the next sums may arrive while a block still reads the last ones.
  __device__ __forceinline__ static double* received(int set, int sum) {
    __shared__ double sums[2][kMaxExchanged][kMaxClusterBlocks];
    return sums[set][sum];
  }

  std::int32_t rows_per_block_;
  std::uint32_t base_;
  int set_ = 0;
};

}  // namespace trireme::solvers
