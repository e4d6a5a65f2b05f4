// SPDX-License-Identifier: BSD-3-Clause
// Numbers that travel between GPUs as words which carry the sign of their own arrival.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/peer_sums.hpp"

namespace trireme {

// A number takes two words. A 64-bit store is never seen in part, wherever the memory is.
__device__ __forceinline__ void put_word(std::uint64_t* to, std::uint32_t data,
                                         std::uint32_t epoch) {
  const std::uint64_t word = (static_cast<std::uint64_t>(epoch) << 32) | data;
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

__device__ __forceinline__ void put_number(std::uint64_t* to, double value, std::uint32_t epoch) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  put_word(to, static_cast<std::uint32_t>(bits), epoch);
  put_word(to + 1, static_cast<std::uint32_t>(bits >> 32), epoch);
}

// Waits for the word of this epoch.
__device__ __forceinline__ std::uint64_t take_word(const std::uint64_t* from, std::uint32_t epoch) {
  std::uint64_t word;
  do {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  } while (static_cast<std::uint32_t>(word >> 32) != epoch);
  return word & 0xffffffffu;
}

__device__ __forceinline__ double take_number(const std::uint64_t* from, std::uint32_t epoch) {
  const std::uint64_t low = take_word(from, epoch);
  return __longlong_as_double(static_cast<long long>(take_word(from + 1, epoch) << 32 | low));
}

// values[0 .. count) in shared memory become their sums over the ranks, added in the order of the
// ranks: the same bits on each. By one whole block, once at a time on each GPU.
__device__ inline void sum_over_peers(PeerSums* peers, double* values, int count) {
  __shared__ double numbers[PeerSums::most_ranks * PeerSums::most_values];
  __syncthreads();
  const int ranks = peers->ranks, rank = peers->rank;
  const std::uint32_t epoch = peers->epoch + 1;
  const auto slot = [&](int of, int k) {
    return (((epoch & 1) * PeerSums::most_ranks + of) * PeerSums::most_values + k) * 2;
  };
  for (int k = threadIdx.x; k < ranks * count; k += blockDim.x)
    put_number(peers->mailbox[k / count] + slot(rank, k % count), values[k % count], epoch);
  for (int k = threadIdx.x; k < ranks * count; k += blockDim.x)
    numbers[k] = take_number(peers->mailbox[rank] + slot(k / count, k % count), epoch);
  __syncthreads();
  if (threadIdx.x < count) {
    double sum = 0;
    for (int from = 0; from < ranks; ++from) sum += numbers[from * count + threadIdx.x];
    values[threadIdx.x] = sum;
  }
  if (threadIdx.x == 0) peers->epoch = epoch;
  __syncthreads();
}

}  // namespace trireme
