// SPDX-License-Identifier: BSD-3-Clause
// Finds out where the GPUs are, tries the exchanges in order, and measures a mixed one against its
// rival.
#include "distributed/gpu_exchange.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "distributed/exchange_choice.hpp"
#include "distributed/exchange_trial.hpp"
#include "distributed/mixed_exchange.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"

namespace trireme {
namespace {

struct Gpu {
  std::array<char, 64> uuid{};
  int compute = 0;
};

std::vector<GpuPlace> places_of_gpus(MPI_Comm comm, int ranks_per_node) {
  Gpu mine;
  collectively(comm, [&] {
    const DeviceProperties gpu = device_properties();
    std::copy_n(gpu.uuid.begin(), std::min(gpu.uuid.size(), mine.uuid.size() - 1),
                mine.uuid.begin());
    mine.compute = 10 * gpu.compute_major + gpu.compute_minor;
  });
  std::vector<Gpu> all(size_of(comm));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  std::vector<GpuPlace> places;
  for (const Gpu& gpu : all) places.push_back({.uuid = gpu.uuid.data(), .compute = gpu.compute});
  const std::vector<Node> nodes = nodes_of_ranks(comm);
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const int rank : nodes[node].ranks) places[rank].node = static_cast<int>(node);
  if (ranks_per_node > 0) cut_nodes(places, ranks_per_node);
  return places;
}

// The faster one of the mixed exchange and the way between its groups for all ranks.
std::unique_ptr<GpuExchange> faster_of(MPI_Comm comm, const HaloPlan& halo,
                                       std::unique_ptr<MixedExchange> mixed, ExchangeWay between) {
  std::unique_ptr<GpuExchange> alone =
      between == ExchangeWay::nccl ? make_nccl_exchange(comm, halo, &mixed->between_groups())
                                   : make_mpi_exchange(comm, halo);
  const double mixed_us = halo_us(comm, halo, *mixed), alone_us = halo_us(comm, halo, *alone);
  mixed->why = fmt::format("a halo takes {:.1f} us, and {:.1f} by {} alone", mixed_us, alone_us,
                           alone->name());
  alone->why =
      fmt::format("a halo takes {:.1f} us, and {:.1f} by {}", alone_us, mixed_us, mixed->name());
  if (alone_us < mixed_us) return alone;
  return mixed;
}

std::unique_ptr<GpuExchange> make(ExchangeWay way, MPI_Comm comm, const HaloPlan& halo,
                                  std::span<const GpuPlace> places,
                                  const ExchangeRequest& request) {
  const GpuExchange* beside = request.beside.get();
  if (way == ExchangeWay::peer) return make_peer_exchange(comm, halo, request.peer_timeout, beside);
  if (way == ExchangeWay::nccl) return make_nccl_exchange(comm, halo, beside);
  if (way == ExchangeWay::mpi) return make_mpi_exchange(comm, halo);
  const ExchangeWay between = way_between_groups(way);
  auto mixed = std::make_unique<MixedExchange>(comm, halo, peer_groups(places), between, request);
  if (!request.way.empty()) return mixed;
  return faster_of(comm, halo, std::move(mixed), between);
}

}  // namespace

std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo,
                                               const ExchangeRequest& request) {
  if (size_of(comm) == 1) return nullptr;
  const std::vector<GpuPlace> places = places_of_gpus(comm, request.ranks_per_node);
  const GpuNeighbourhood gpus = neighbourhood_of(places);
  const std::vector<ExchangeWay> ways = exchange_ways(gpus, request.way);
  for (std::size_t k = 0;; ++k) try {
      auto exchange = make(ways[k], comm, halo, places, request);
      if (exchange->why.empty()) exchange->why = why_no_peers(gpus);
      return exchange;
    } catch (const AgreedError& error) {  // this exchange does not work here
      if (error.code() != ExitCode::resource || k + 1 == ways.size()) throw;
    }
}

}  // namespace trireme
