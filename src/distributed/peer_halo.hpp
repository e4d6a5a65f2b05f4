// SPDX-License-Identifier: BSD-3-Clause
// The halo between GPUs that write into each other's memory: two kernels a product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/peer_sums.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// An inbox holds, for either parity of the epoch, two words for each entry that comes (see
// peer_words.cuh). Two parities suffice where every neighbour both sends and receives: what comes
// for epoch e + 1 says that its sender has read e, so that e + 2 may take e's place.
struct PeerHalo {
  static constexpr int max_neighbours = PeerSums::max_ranks - 1;

  // Outgoing entries [first[k], first[k + 1]) go to neighbour k.
  std::int32_t first[max_neighbours + 1] = {};
  std::uint64_t* inbox_there[max_neighbours] = {};  // where ours begin, for parity 0
  std::int64_t words_there[max_neighbours] = {};    // of a parity
  std::int32_t neighbours = 0;
  const std::int32_t* rows = nullptr;  // of each outgoing entry; -1: nothing but a sign of life
  const std::uint64_t* inbox = nullptr;
  std::int32_t ghosts = 0;    // entries 0 .. ghosts - 1 of the inbox
  std::int32_t incoming = 0;  // with the signs of life behind them
  std::uint32_t* epoch = nullptr;
  unsigned* tickets = nullptr;  // 0 between launches
  PeerWait* wait = nullptr;

  std::int32_t outgoing() const { return first[neighbours]; }
};

void peer_send(const PeerHalo& halo, DeviceSpan<const double> x, StreamRef stream);
// Waits on the device until all has come, or the patience ends; `ghosts` holds halo.ghosts numbers.
void peer_receive(const PeerHalo& halo, DeviceSpan<double> ghosts, StreamRef stream);

// values[k] become their sums over the ranks, for at most PeerSums::max_values of them.
void peer_sum(PeerSums* peers, DeviceSpan<double> values, StreamRef stream);

}  // namespace trireme
