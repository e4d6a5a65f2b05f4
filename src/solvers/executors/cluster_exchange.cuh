// SPDX-License-Identifier: BSD-3-Clause
// How the blocks of one thread-block cluster exchange: they read and write each other's shared
// memory, and meet at the cluster's barrier in hardware. Nothing passes through L2.
//
//   product:  all blocks meet | gather from the shared memory of the block that owns the column
//   sums:     each block writes its sums into every block's shared memory | all blocks meet | every
//             block adds what it was sent, in the same order
// A vector that was offered stays as it is until the next sums: every solver text keeps to that.
// Up to 16 blocks, of compute capability 9.0 or higher.
#pragma once

#include "device/block_sum.cuh"
#include "solvers/executors/persistent_arguments.cuh"

namespace trireme::solvers {

class ClusterExchange {
 public:
  static constexpr int rows_in_flight = 1;  // of a pass: where all is near, less code is faster

  // By every thread. `shared` is the block's dynamic shared memory, in which all blocks have the
  // same layout.
  __device__ __forceinline__ ClusterExchange(const PersistentArguments& a, const void* shared)
      : rows_per_block_(static_cast<std::int32_t>(a.rows_per_block)), base_(address(shared)) {
    meet();  // only of a block that has begun may the shared memory be written
  }

  // A column of another block as a number below 0: how many numbers further its place lies than the
  // block's own first, which may be forwards or backwards.
  __device__ __forceinline__ std::int32_t code_of(std::int32_t column) const {
    const auto bytes = static_cast<std::int32_t>(at_block(base_, column / rows_per_block_) - base_);
    return bytes / std::int32_t{sizeof(double)} + column % rows_per_block_ - kFar;
  }

  __device__ __forceinline__ void offer_vector(const double*, std::int64_t, std::int64_t) {
    meet();
  }
  // A number of the block's own x, or of another block's, by one and the same load, so that many
  // are in flight: the offset of a code is right modulo 2^32.
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
  static constexpr std::int32_t kFar = 1 << 30;  // more than blocks are apart

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
  // Two sets: a block may be sent the next sums while it reads the last.
  __device__ __forceinline__ static double* received(int set, int sum) {
    __shared__ double sums[2][kMaxExchanged][kMaxClusterBlocks];
    return sums[set][sum];
  }

  std::int32_t rows_per_block_;
  std::uint32_t base_;
  int set_ = 0;
};

}  // namespace trireme::solvers
