// SPDX-License-Identifier: BSD-3-Clause
// The halo between GPUs that write into each other's memory: two kernels per product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/peer_sums.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// The epoch is the number of the product. For each of its parities (even and odd), an inbox has two
// words per incoming entry (peer_words.cuh). Two parities suffice because every neighbour both
// sends and receives. An entry for epoch e + 1 says that its sender has read epoch e, so that the
// entries of epoch e + 2 may overwrite those of epoch e.
struct PeerHalo {
  static constexpr int max_neighbours = PeerSums::max_ranks - 1;

  // Outgoing entries [first[k], first[k + 1]) go to neighbour k.
  std::int32_t first[max_neighbours + 1] = {};
  std::uint64_t* inbox_there[max_neighbours] = {};  // where this rank writes, for parity 0
  std::int64_t words_there[max_neighbours] = {};    // words per parity
  std::int32_t neighbours = 0;
  std::int32_t rank[max_neighbours] = {};
  // Entries first_in[k] .. end_in[k] - 1 of the inbox come from neighbour k.
  std::int32_t first_in[max_neighbours] = {}, end_in[max_neighbours] = {};
  const std::int32_t* rows = nullptr;  // of each outgoing entry; -1: a sign of life without a value
  const std::uint64_t* inbox = nullptr;
  std::int32_t ghosts = 0;    // entries 0 .. ghosts - 1 of the inbox
  std::int32_t incoming = 0;  // ghosts, followed by the signs of life
  std::uint32_t* epoch = nullptr;
  unsigned* tickets = nullptr;  // 0 between launches
  PeerWait* wait = nullptr;

  std::int32_t outgoing() const { return first[neighbours]; }
};

// Queues in `stream` the writes of entries of x to the inboxes of the neighbours.
void peer_send(const PeerHalo& halo, DeviceSpan<const double> x, StreamRef stream);
void peer_send(const PeerHalo& halo, DeviceSpan<const float> x, StreamRef stream);
// Queues in `stream` a kernel that waits for all incoming entries, or for the timeout of halo.wait,
// and copies them to `ghosts`, which has halo.ghosts numbers.
void peer_receive(const PeerHalo& halo, DeviceSpan<double> ghosts, StreamRef stream);
// The same beside numbers `others` that have come by another way: ghost k is others[sources[k]], or
// where sources[k] is negative the incoming entry ~sources[k]. Each of the halo.ghosts entries has
// a ghost.
void peer_receive_beside(const PeerHalo& halo, DeviceSpan<const double> others,
                         DeviceSpan<const std::int32_t> sources, DeviceSpan<double> ghosts,
                         StreamRef stream);

// Queues in `stream` the replacement of each number by its sum over the ranks. At most
// PeerSums::max_values numbers.
void peer_sum(PeerSums* peers, DeviceSpan<double> values, StreamRef stream);

}  // namespace trireme
