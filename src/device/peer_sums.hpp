// SPDX-License-Identifier: BSD-3-Clause
// Sums over the GPUs of one node within a kernel: each writes its numbers into every other's
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme {

// What a kernel needs for it; lives in device memory. A mailbox holds, for either parity of the
// epoch, a slot for each rank; a slot holds two words a number, each of 32 bits of the number and
// 32 bits of the epoch, so that a word is its own sign that it has come and no fence is needed.
// Two parities suffice: a rank begins sum e + 2 only when all have sent, and so have begun, e + 1,
// and so have read e.
struct PeerSums {
  static constexpr int most_ranks = 16;
  static constexpr int most_values = 16;
  static constexpr std::size_t mailbox_words = std::size_t{2} * most_ranks * most_values * 2;

  std::uint64_t* mailbox[most_ranks] = {};  // of each rank, as mapped here
  std::uint32_t epoch = 0;                  // sums so far, the same on every rank
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
};

}  // namespace trireme
