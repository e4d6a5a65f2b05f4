// SPDX-License-Identifier: BSD-3-Clause
// The rules of the choice.
#include "distributed/exchange_choice.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "device/peer_sums.hpp"

namespace trireme {
namespace {

using enum ExchangeWay;

std::string version(int compute) { return fmt::format("{}.{}", compute / 10, compute % 10); }

// Whether these ranks of one node can write into each other's memory.
bool are_peers(std::span<const GpuPlace> ranks, std::span<const int> of_node) {
  std::set<std::string> gpus;
  for (const int rank : of_node) {
    if (ranks[rank].compute != ranks[of_node.front()].compute) return false;
    gpus.insert(ranks[rank].uuid);
  }
  return gpus.size() == of_node.size() && of_node.size() <= PeerSums::max_ranks;
}

std::vector<ExchangeWay> best_ways(const GpuNeighbourhood& gpus) {
  if (gpus.groups && gpus.own_gpus) return {peer_nccl, nccl, peer_mpi, mpi};
  if (gpus.groups) return {peer_mpi, mpi};
  if (!gpus.own_gpus) return {mpi};
  if (gpus.one_node && gpus.one_architecture() && gpus.ranks <= PeerSums::max_ranks)
    return {peer, nccl, mpi};
  return {nccl, mpi};
}

// The ways that the word stands for.
std::vector<ExchangeWay> ways_called(std::string_view word) {
  if (word == "mixed") return {peer_nccl, peer_mpi};
  for (const ExchangeWay way : {peer, peer_nccl, peer_mpi, nccl, mpi})
    if (word == name_of(way)) return {way};
  fail(ExitCode::usage,
       "-trireme_exchange {} is none of peer, mixed, peer+nccl, peer+mpi, nccl, mpi", word);
}

}  // namespace

std::string_view name_of(ExchangeWay way) {
  switch (way) {
    case peer:
      return "peer";
    case peer_nccl:
      return "peer+nccl";
    case peer_mpi:
      return "peer+mpi";
    case nccl:
      return "nccl";
    case mpi:
      break;
  }
  return "mpi";
}

std::vector<int> peer_groups(std::span<const GpuPlace> ranks) {
  std::map<int, std::vector<int>> nodes;
  for (int rank = 0; rank < std::ssize(ranks); ++rank) nodes[ranks[rank].node].push_back(rank);
  std::vector<int> groups(ranks.size());
  for (const auto& [node, of_node] : nodes) {
    const bool together = are_peers(ranks, of_node);
    for (const int rank : of_node) groups[rank] = together ? of_node.front() : rank;
  }
  return groups;
}

void cut_nodes(std::span<GpuPlace> ranks, int ranks_per_node) {
  const int most = static_cast<int>(ranks.size()) / ranks_per_node + 1;  // parts of a node
  for (int rank = 0; rank < std::ssize(ranks); ++rank)
    ranks[rank].node = ranks[rank].node * most + rank / ranks_per_node;
}

GpuNeighbourhood neighbourhood_of(std::span<const GpuPlace> ranks) {
  GpuNeighbourhood gpus{.ranks = static_cast<int>(ranks.size())};
  std::set<std::string> uuids;
  for (const GpuPlace& place : ranks) uuids.insert(place.uuid);
  gpus.own_gpus = uuids.size() == ranks.size();
  gpus.one_node = std::ranges::all_of(
      ranks, [&](const GpuPlace& place) { return place.node == ranks.front().node; });
  const auto [lowest, highest] = std::ranges::minmax(ranks, {}, &GpuPlace::compute);
  gpus.lowest_compute = lowest.compute;
  gpus.highest_compute = highest.compute;
  const std::vector<int> groups = peer_groups(ranks);
  const auto number = std::set<int>(groups.begin(), groups.end()).size();
  gpus.groups = number > 1 && number < ranks.size();
  return gpus;
}

std::string why_no_peers(const GpuNeighbourhood& gpus) {
  if (!gpus.own_gpus || !gpus.one_node || gpus.one_architecture()) return {};
  return fmt::format(
      "the GPUs are of different architectures (compute capability {} to {}), so that they do not "
      "write into each other's memory",
      version(gpus.lowest_compute), version(gpus.highest_compute));
}

std::vector<ExchangeWay> exchange_ways(const GpuNeighbourhood& gpus, std::string_view asked) {
  if (asked.empty()) return best_ways(gpus);
  std::vector<ExchangeWay> ways = ways_called(asked);
  if (is_mixed(ways.front()) && !gpus.groups)
    fail(ExitCode::resource,
         "-trireme_exchange {} needs several nodes, at least one of them with several GPUs of one "
         "architecture and a rank for each; use peer, nccl or mpi",
         asked);
  if (asked == "mixed" && !gpus.own_gpus) return {peer_mpi};
  if (ways.front() != mpi && ways.front() != peer_mpi && !gpus.own_gpus)
    fail(ExitCode::resource,
         "-trireme_exchange {} needs one GPU per rank; start fewer ranks, or use mpi", asked);
  if (ways.front() == peer && !gpus.one_architecture())
    fail(ExitCode::resource, "-trireme_exchange peer: {}; use nccl or mpi", why_no_peers(gpus));
  return ways;
}

}  // namespace trireme
