// SPDX-License-Identifier: BSD-3-Clause
// One thread per entry. Each entry moves 16 bytes over the link.
#include <algorithm>

#include "device/check.hpp"
#include "device/peer_words.cuh"
#include "distributed/peer_entries.cuh"
#include "distributed/peer_halo.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMaxBlocks = 264;

unsigned blocks_for(std::int32_t entries) {
  return std::clamp((static_cast<unsigned>(entries) + kThreads - 1) / kThreads, 1u, kMaxBlocks);
}

template <class Number>
__global__ void send_entries(const __grid_constant__ PeerHalo halo, std::int32_t outgoing,
                             const Number* __restrict__ x) {
  const OutgoingEntries entries(halo);
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
       k < outgoing; k += static_cast<std::int32_t>(gridDim.x * kThreads)) {
    const std::int32_t row = halo.rows[k];
    entries.put(k, row < 0 ? 0 : x[row]);
  }
}

__global__ void receive_entries(const __grid_constant__ PeerHalo halo,
                                double* __restrict__ ghosts) {
  const IncomingEntries entries(halo);
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
       k < halo.ghosts; k += static_cast<std::int32_t>(gridDim.x * kThreads))
    ghosts[k] = entries.at(k);
  entries.close();
}

__global__ void receive_beside(const __grid_constant__ PeerHalo halo,
                               const double* __restrict__ others,
                               const std::int32_t* __restrict__ sources, std::int32_t count,
                               double* __restrict__ ghosts) {
  const IncomingEntries entries(halo);
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x); k < count;
       k += static_cast<std::int32_t>(gridDim.x * kThreads)) {
    const std::int32_t source = sources[k];
    ghosts[k] = source < 0 ? entries.at(~source) : others[source];
  }
  entries.close();
}

__global__ void sum_values(PeerSums* peers, double* values, int count) {
  __shared__ double sums[PeerSums::max_values];
  if (threadIdx.x < count) sums[threadIdx.x] = values[threadIdx.x];
  sum_over_peers(peers, sums, count);
  if (threadIdx.x < count) values[threadIdx.x] = sums[threadIdx.x];
}

template <class Number>
void launch_send(const PeerHalo& halo, DeviceSpan<const Number> x, StreamRef stream) {
  if (halo.neighbours == 0) return;
  send_entries<<<blocks_for(halo.outgoing()), kThreads, 0, stream>>>(halo, halo.outgoing(),
                                                                     x.data());
  check_launch();
}

}  // namespace

void peer_send(const PeerHalo& halo, DeviceSpan<const double> x, StreamRef stream) {
  launch_send(halo, x, stream);
}
void peer_send(const PeerHalo& halo, DeviceSpan<const float> x, StreamRef stream) {
  launch_send(halo, x, stream);
}

void peer_receive(const PeerHalo& halo, DeviceSpan<double> ghosts, StreamRef stream) {
  if (halo.neighbours == 0) return;
  receive_entries<<<blocks_for(halo.incoming), kThreads, 0, stream>>>(halo, ghosts.data());
  check_launch();
}

void peer_receive_beside(const PeerHalo& halo, DeviceSpan<const double> others,
                         DeviceSpan<const std::int32_t> sources, DeviceSpan<double> ghosts,
                         StreamRef stream) {
  const auto count = static_cast<std::int32_t>(sources.size());
  receive_beside<<<blocks_for(std::max(count, halo.incoming)), kThreads, 0, stream>>>(
      halo, others.data(), sources.data(), count, ghosts.data());
  check_launch();
}

void peer_sum(PeerSums* peers, DeviceSpan<double> values, StreamRef stream) {
  sum_values<<<1, kThreads, 0, stream>>>(peers, values.data(), static_cast<int>(values.size()));
  check_launch();
}

}  // namespace trireme
