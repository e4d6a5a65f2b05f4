// SPDX-License-Identifier: BSD-3-Clause
// Numbers that GPUs send to each other as words which themselves tell that they have arrived.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/peer_sums.hpp"

namespace trireme {

// A number takes two words. No GPU ever sees a part of a 64-bit store.
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

__device__ __forceinline__ std::uint64_t look_at_word(const std::uint64_t* from) {
  std::uint64_t word;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}

// True where a wait must end without its word. `begin` is the time when the wait began; 0 stands
// for now and is replaced. `whom` is the value for PeerWait::missed.
__device__ __forceinline__ bool patience_ends(PeerWait& wait, std::uint64_t& begin,
                                              std::int32_t whom) {
  if (*static_cast<const volatile std::int32_t*>(&wait.missed) != 0) return true;
  if (wait.patience_ns == 0) return false;
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (begin == 0) begin = now;
  if (now - begin < wait.patience_ns) return false;
  if (atomicCAS(&wait.missed, 0, whom) == 0) {
    *static_cast<volatile std::int32_t*>(wait.told) = whom;
    __threadfence_system();
  }
  return true;
}

// The slow path of take_word(), in a function of its own so that it takes no registers of the
// kernels.
__device__ __noinline__ inline std::uint64_t wait_for_word(const std::uint64_t* from,
                                                           std::uint32_t epoch, PeerWait& wait,
                                                           std::int32_t whom) {
  // The clock is read after about 0.2 ms of polling, so that its cost does not matter.
  constexpr unsigned kPollsBetweenLooks = 256;
  std::uint64_t begin = 0;
  for (unsigned polls = 1;; ++polls) {
    const std::uint64_t word = look_at_word(from);
    if (static_cast<std::uint32_t>(word >> 32) == epoch) return word & 0xffffffffu;
    if (polls % kPollsBetweenLooks == 0 && patience_ends(wait, begin, whom))
      return ~std::uint64_t{0};
  }
}

// Waits for the word of this epoch and returns its lower half. Where the word does not arrive in
// time, all 64 bits of the result are set, so that the number is NaN whatever its other word is.
__device__ __forceinline__ std::uint64_t take_word(const std::uint64_t* from, std::uint32_t epoch,
                                                   PeerWait& wait, std::int32_t whom) {
  for (int polls = 0; polls < 64; ++polls) {
    const std::uint64_t word = look_at_word(from);
    if (static_cast<std::uint32_t>(word >> 32) == epoch) return word & 0xffffffffu;
  }
  return wait_for_word(from, epoch, wait, whom);
}

// Waits for a number and returns it, or NaN where it does not arrive in time.
__device__ __forceinline__ double take_number(const std::uint64_t* from, std::uint32_t epoch,
                                              PeerWait& wait, std::int32_t whom) {
  const std::uint64_t low = take_word(from, epoch, wait, whom);
  const std::uint64_t high = take_word(from + 1, epoch, wait, whom);
  return __longlong_as_double(static_cast<long long>(high << 32 | low));
}

// Replaces values[0 .. count), which lie in shared memory, by their sums over the ranks. The
// numbers are added in the order of the ranks, so that all ranks get the same bits. A sum is NaN
// where the number of a rank does not arrive in time. All threads of one block call it; only one
// block of a GPU may call it at a time.
__device__ inline void sum_over_peers(PeerSums* peers, double* values, int count) {
  __shared__ double numbers[PeerSums::max_ranks * PeerSums::max_values];
  __syncthreads();
  const int ranks = peers->ranks, rank = peers->rank;
  const std::uint32_t epoch = peers->epoch + 1;
  const auto slot = [&](int of, int k) {
    return (((epoch & 1) * PeerSums::max_ranks + of) * PeerSums::max_values + k) * 2;
  };
  for (int k = threadIdx.x; k < ranks * count; k += blockDim.x)
    put_number(peers->mailbox[k / count] + slot(rank, k % count), values[k % count], epoch);
  for (int k = threadIdx.x; k < ranks * count; k += blockDim.x)
    numbers[k] = take_number(peers->mailbox[rank] + slot(k / count, k % count), epoch, peers->wait,
                             1 + k / count);
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
