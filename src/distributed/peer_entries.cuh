// SPDX-License-Identifier: BSD-3-Clause
// The entries of a PeerHalo within a kernel.
#pragma once

#include "device/peer_words.cuh"
#include "distributed/peer_halo.hpp"

namespace trireme {

// Sends the outgoing entries of one product. Several kernels may send parts of them.
class OutgoingEntries {
 public:
  __device__ explicit OutgoingEntries(const PeerHalo& halo)
      : halo_(halo), epoch_(*halo.epoch + 1) {}

  __device__ void put(std::int32_t k, double value) const {
    int to = 0;
    while (k >= halo_.first[to + 1]) ++to;
    put_number(halo_.inbox_there[to] + (epoch_ & 1) * halo_.words_there[to] +
                   2 * static_cast<std::int64_t>(k - halo_.first[to]),
               value, epoch_);
  }

 private:
  const PeerHalo& halo_;
  std::uint32_t epoch_;
};

// Receives the entries of one product, in one kernel. All threads of the grid construct it and call
// close() at their end. Each entry is waited for by at least one thread.
class IncomingEntries {
 public:
  __device__ explicit IncomingEntries(const PeerHalo& halo)
      : halo_(halo),
        epoch_(*halo.epoch + 1),
        inbox_(halo.inbox + (epoch_ & 1) * 2 * static_cast<std::int64_t>(halo.incoming)) {}

  // Waits for entry k, or for the timeout, which gives NaN.
  __device__ double at(std::int32_t k) const {
    return take_number(inbox_ + 2 * static_cast<std::int64_t>(k), epoch_, *halo_.wait,
                       sender_of(k));
  }

  // Waits for the signs of life, which no product reads. The next product may then be sent.
  __device__ void close() const {
    if (blockIdx.x == 0)
      for (std::int32_t k = halo_.ghosts + static_cast<std::int32_t>(threadIdx.x);
           k < halo_.incoming; k += static_cast<std::int32_t>(blockDim.x))
        at(k);
    __syncthreads();  // every thread of the block has read the epoch
    if (threadIdx.x == 0 && atomicInc(halo_.tickets, gridDim.x - 1) == gridDim.x - 1)
      *halo_.epoch = epoch_;
  }

 private:
  // As PeerWait::missed names it.
  __device__ std::int32_t sender_of(std::int32_t k) const {
    int from = 0;
    while (k < halo_.first_in[from] || k >= halo_.end_in[from]) ++from;
    return 1 + halo_.rank[from];
  }

  const PeerHalo& halo_;
  std::uint32_t epoch_;
  const std::uint64_t* inbox_;
};

}  // namespace trireme
