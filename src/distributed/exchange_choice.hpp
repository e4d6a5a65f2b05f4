// SPDX-License-Identifier: BSD-3-Clause
// Which of the ways between GPUs (gpu_exchange.hpp) are worth a try.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme {

enum class ExchangeWay { peer, nccl, mpi };

// What decides; the same on every rank.
struct GpuNeighbourhood {
  int ranks = 1;
  bool own_gpus = true;  // a GPU for each rank
  bool one_node = true;
  int lowest_compute = 90, highest_compute = 90;  // 10 major + minor

  bool one_architecture() const { return lowest_compute == highest_compute; }
};

// Best first. `asked`: peer, nccl or mpi alone, or empty. Throws Error{usage} for another word and
// Error{resource} for a way that cannot be.
std::vector<ExchangeWay> exchange_ways(const GpuNeighbourhood& gpus, std::string_view asked);

// Why GPUs that could write into each other's memory do not; else empty.
std::string why_no_peers(const GpuNeighbourhood& gpus);

}  // namespace trireme
