// SPDX-License-Identifier: BSD-3-Clause
// Which exchanges between GPUs (gpu_exchange.hpp) are tried, and in which order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme {

enum class ExchangeWay { peer, nccl, mpi };

// The facts that the choice depends on; they are the same on every rank.
struct GpuNeighbourhood {
  int ranks = 1;
  bool own_gpus = true;                           // no two ranks share a GPU
  bool one_node = true;                           // all ranks are on it
  int lowest_compute = 90, highest_compute = 90;  // 10 major + minor

  bool one_architecture() const { return lowest_compute == highest_compute; }
};

// The exchanges to try, the best first. `asked` is empty, or peer, nccl or mpi, which is then the
// only one. Throws Error{usage} for another word, Error{resource} where the asked one is
// impossible.
std::vector<ExchangeWay> exchange_ways(const GpuNeighbourhood& gpus, std::string_view asked);

// The reason why GPUs of one node do not write into each other's memory; empty where there is none.
std::string why_no_peers(const GpuNeighbourhood& gpus);

}  // namespace trireme
