// SPDX-License-Identifier: BSD-3-Clause
// Which exchanges between GPUs (gpu_exchange.hpp) are tried, and in which order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

enum class ExchangeWay { peer, peer_nccl, peer_mpi, nccl, mpi };

// The name of the exchange: peer, peer+nccl, peer+mpi, nccl or mpi.
std::string_view name_of(ExchangeWay way);

// Whether groups of ranks use peer memory, and another way between the groups.
constexpr bool is_mixed(ExchangeWay way) {
  return way == ExchangeWay::peer_nccl || way == ExchangeWay::peer_mpi;
}

// The way between the groups of a mixed exchange, which can also be the only one.
constexpr ExchangeWay way_between_groups(ExchangeWay mixed) {
  return mixed == ExchangeWay::peer_nccl ? ExchangeWay::nccl : ExchangeWay::mpi;
}

// Where a rank runs, and its GPU.
struct GpuPlace {
  int node = 0;
  std::string uuid;  // of the GPU
  int compute = 90;  // 10 major + minor
};

// The groups of ranks that can use peer memory: groups[r] is the lowest rank of the group of rank
// r. The ranks of a node are a group where each has a GPU of its own, the GPUs are of one
// architecture, and PeerSums::max_ranks suffice. Other ranks are groups of one.
std::vector<int> peer_groups(std::span<const GpuPlace> ranks);

// Cuts each node into nodes of `ranks_per_node` consecutive ranks of the job, the last of which can
// have fewer.
void cut_nodes(std::span<GpuPlace> ranks, int ranks_per_node);

// The facts that the choice depends on; they are the same on every rank.
struct GpuNeighbourhood {
  int ranks = 1;
  bool own_gpus = true;                           // no two ranks share a GPU
  bool one_node = true;                           // all ranks are on it
  int lowest_compute = 90, highest_compute = 90;  // 10 major + minor
  bool groups = false;  // some peer group has several ranks, but none has all

  bool one_architecture() const { return lowest_compute == highest_compute; }
};

GpuNeighbourhood neighbourhood_of(std::span<const GpuPlace> ranks);

// The exchanges to try, the best first. `asked` is empty, or the name of an exchange, which is then
// the only one, or "mixed", which is one of the two mixed ones. Throws Error{usage} for another
// word, Error{resource} where the asked one is impossible.
std::vector<ExchangeWay> exchange_ways(const GpuNeighbourhood& gpus, std::string_view asked);

// The reason why GPUs of one node do not write into each other's memory; empty where there is none.
std::string why_no_peers(const GpuNeighbourhood& gpus);

}  // namespace trireme
