// SPDX-License-Identifier: BSD-3-Clause
// Sums over the GPUs of one node inside a kernel: each GPU writes its numbers into the memory of
// all GPUs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme {

// The time limit of kernels that wait for the numbers of another GPU. Once a wait has exceeded the
// limit, that wait and every later one end without their numbers and return NaN. The struct lies in
// device memory.
struct PeerWait {
  std::uint64_t patience_ns = 0;  // the limit in nanoseconds; 0: no limit
  // 1 + the rank for which the first wait that exceeded the limit waited. 0 where no wait has
  // exceeded the limit.
  std::int32_t missed = 0;
  std::int32_t* told = nullptr;  // a copy of `missed` in host memory
};

// The data that a kernel needs for such a sum. The struct lies in device memory.
//
// Each rank has a mailbox. It has one slot per rank for even epochs and one for odd epochs. A slot
// has two words per number. A word has 32 bits of the number and 32 bits of the epoch, so that the
// word itself tells that it has arrived and no fence is needed.
//
// Two sets of slots suffice: a rank begins sum e + 2 only after all ranks have sent their numbers
// of sum e + 1, and a rank sends these only after it has read all numbers of sum e.
struct PeerSums {
  static constexpr int max_ranks = 16;
  static constexpr int max_values = 16;
  static constexpr std::size_t mailbox_words = std::size_t{2} * max_ranks * max_values * 2;

  std::uint64_t* mailbox[max_ranks] = {};  // of each rank, at the address where it is mapped here
  std::uint32_t epoch = 0;                 // number of sums so far, the same on every rank
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  PeerWait wait;
};

}  // namespace trireme
