// SPDX-License-Identifier: BSD-3-Clause
// One thread per entry. Each entry moves 16 bytes over the link.
#include <algorithm>

#include "device/check.hpp"
#include "device/peer_words.cuh"
#include "distributed/peer_halo.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMaxBlocks = 264;

unsigned blocks_for(std::int32_t entries) {
  return std::clamp((static_cast<unsigned>(entries) + kThreads - 1) / kThreads, 1u, kMaxBlocks);
}

__global__ void send_entries(const PeerHalo halo, std::int32_t outgoing,
                             const double* __restrict__ x) {
  const std::uint32_t epoch = *halo.epoch + 1;
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
       k < outgoing; k += static_cast<std::int32_t>(gridDim.x * kThreads)) {
    int to = 0;
    while (k >= halo.first[to + 1]) ++to;
    const std::int32_t row = halo.rows[k];
    std::uint64_t* word = halo.inbox_there[to] + (epoch & 1) * halo.words_there[to] +
                          2 * static_cast<std::int64_t>(k - halo.first[to]);
    put_number(word, row < 0 ? 0 : x[row], epoch);
  }
}

// The rank that sends entry k, as PeerWait::missed names it.
__device__ std::int32_t sender_of(const PeerHalo& halo, std::int32_t k) {
  int from = 0;
  while (k < halo.first_in[from] || k >= halo.end_in[from]) ++from;
  return 1 + halo.rank[from];
}

__global__ void receive_entries(const PeerHalo halo, double* __restrict__ ghosts) {
  const std::uint32_t epoch = *halo.epoch + 1;
  const std::uint64_t* inbox =
      halo.inbox + (epoch & 1) * 2 * static_cast<std::int64_t>(halo.incoming);
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
       k < halo.incoming; k += static_cast<std::int32_t>(gridDim.x * kThreads)) {
    const double value = take_number(inbox + 2 * static_cast<std::int64_t>(k), epoch, *halo.wait,
                                     sender_of(halo, k));
    if (k < halo.ghosts) ghosts[k] = value;
  }
  __syncthreads();  // every thread of the block has read the epoch
  if (threadIdx.x == 0 && atomicInc(halo.tickets, gridDim.x - 1) == gridDim.x - 1)
    *halo.epoch = epoch;
}

__global__ void sum_values(PeerSums* peers, double* values, int count) {
  __shared__ double sums[PeerSums::max_values];
  if (threadIdx.x < count) sums[threadIdx.x] = values[threadIdx.x];
  sum_over_peers(peers, sums, count);
  if (threadIdx.x < count) values[threadIdx.x] = sums[threadIdx.x];
}

}  // namespace

void peer_send(const PeerHalo& halo, DeviceSpan<const double> x, StreamRef stream) {
  if (halo.neighbours == 0) return;
  send_entries<<<blocks_for(halo.outgoing()), kThreads, 0, stream>>>(halo, halo.outgoing(),
                                                                     x.data());
  check_launch();
}

void peer_receive(const PeerHalo& halo, DeviceSpan<double> ghosts, StreamRef stream) {
  if (halo.neighbours == 0) return;
  receive_entries<<<blocks_for(halo.incoming), kThreads, 0, stream>>>(halo, ghosts.data());
  check_launch();
}

void peer_sum(PeerSums* peers, DeviceSpan<double> values, StreamRef stream) {
  sum_values<<<1, kThreads, 0, stream>>>(peers, values.data(), static_cast<int>(values.size()));
  check_launch();
}

}  // namespace trireme
