// SPDX-License-Identifier: BSD-3-Clause
// The rules of the choice.
#include "distributed/exchange_choice.hpp"

#include "base/error.hpp"
#include "device/peer_sums.hpp"

namespace trireme {
namespace {

std::string version(int compute) { return fmt::format("{}.{}", compute / 10, compute % 10); }

}  // namespace

std::string why_no_peers(const GpuNeighbourhood& gpus) {
  if (!gpus.own_gpus || !gpus.one_node || gpus.one_architecture()) return {};
  return fmt::format(
      "the GPUs are of different architectures (compute capability {} to {}), so that they do not "
      "write into each other's memory",
      version(gpus.lowest_compute), version(gpus.highest_compute));
}

std::vector<ExchangeWay> exchange_ways(const GpuNeighbourhood& gpus, std::string_view asked) {
  if (asked == "mpi") return {ExchangeWay::mpi};
  if (!asked.empty() && asked != "peer" && asked != "nccl")
    fail(ExitCode::usage, "-trireme_exchange {} is none of peer, nccl, mpi", asked);
  if (!asked.empty() && !gpus.own_gpus)
    fail(ExitCode::resource,
         "-trireme_exchange {} needs one GPU per rank; start fewer ranks, or use mpi", asked);
  if (asked == "peer" && !gpus.one_architecture())
    fail(ExitCode::resource, "-trireme_exchange peer: {}; use nccl or mpi", why_no_peers(gpus));
  if (asked == "peer") return {ExchangeWay::peer};
  if (asked == "nccl") return {ExchangeWay::nccl};
  if (!gpus.own_gpus) return {ExchangeWay::mpi};
  if (gpus.one_node && gpus.one_architecture() && gpus.ranks <= PeerSums::max_ranks)
    return {ExchangeWay::peer, ExchangeWay::nccl, ExchangeWay::mpi};
  return {ExchangeWay::nccl, ExchangeWay::mpi};
}

}  // namespace trireme
