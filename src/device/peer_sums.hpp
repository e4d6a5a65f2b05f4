// SPDX-License-Identifier: BSD-3-Clause
// Sums over the GPUs of one node within a kernel: each writes its numbers into every other's
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme {

// For how long kernels wait for what another GPU writes. A wait that has lasted too long ends
// without it, and so does every later one: what they return is NaN. Lives in device memory.
struct PeerWait {
  std::uint64_t patience_ns = 0;  // 0: for ever
  // Not 0: what the first such wait was for. 1 + rank: that rank's number in a sum; -1 - entry:
  // that entry of a halo.
  std::int32_t missed = 0;
  std::int32_t* told = nullptr;  // the same, in the host's memory
};

// What a kernel needs for it; lives in device memory. A mailbox holds, for either parity of the
// epoch, a slot for each rank; a slot holds two words a number, each of 32 bits of the number and
// 32 bits of the epoch, so that a word is its own sign that it has come and no fence is needed.
// Two parities suffice: a rank begins sum e + 2 only when all have sent, and so have begun, e + 1,
// and so have read e.
struct PeerSums {
  static constexpr int max_ranks = 16;
  static constexpr int max_values = 16;
  static constexpr std::size_t mailbox_words = std::size_t{2} * max_ranks * max_values * 2;

  std::uint64_t* mailbox[max_ranks] = {};  // of each rank, as mapped here
  std::uint32_t epoch = 0;                 // sums so far, the same on every rank
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  PeerWait wait;
};

}  // namespace trireme
