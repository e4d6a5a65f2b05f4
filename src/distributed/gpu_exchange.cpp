// SPDX-License-Identifier: BSD-3-Clause
// Finds out where the GPUs are, and tries the exchanges in order.
#include "distributed/gpu_exchange.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "distributed/exchange_choice.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The identity of a GPU, on any node.
using GpuName = std::array<char, 64>;

bool all_differ(MPI_Comm comm, const GpuName& mine) {
  std::vector<GpuName> all(size_of(comm));
  constexpr int kCount = std::tuple_size_v<GpuName>;
  MPI_Allgather(mine.data(), kCount, MPI_CHAR, all.data(), kCount, MPI_CHAR, comm);
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

bool on_one_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int alone = size_of(node) == size_of(comm) ? 1 : 0;
  MPI_Comm_free(&node);
  MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, comm);
  return alone != 0;
}

GpuNeighbourhood neighbourhood(MPI_Comm comm) {
  GpuName name{};
  int compute = 0;
  collectively(comm, [&] {
    const DeviceProperties gpu = device_properties();
    std::copy_n(gpu.uuid.begin(), std::min(gpu.uuid.size(), name.size()), name.begin());
    compute = 10 * gpu.compute_major + gpu.compute_minor;
  });
  GpuNeighbourhood gpus;
  gpus.ranks = size_of(comm);
  gpus.own_gpus = all_differ(comm, name);
  gpus.one_node = on_one_node(comm);
  MPI_Allreduce(&compute, &gpus.lowest_compute, 1, MPI_INT, MPI_MIN, comm);
  MPI_Allreduce(&compute, &gpus.highest_compute, 1, MPI_INT, MPI_MAX, comm);
  return gpus;
}

std::unique_ptr<GpuExchange> make(ExchangeWay way, MPI_Comm comm, const HaloPlan& halo,
                                  const ExchangeRequest& request) {
  switch (way) {
    case ExchangeWay::peer:
      return make_peer_exchange(comm, halo, request.peer_timeout, request.beside.get());
    case ExchangeWay::nccl:
      return make_nccl_exchange(comm, halo, request.beside.get());
    case ExchangeWay::mpi:
      break;
  }
  return make_mpi_exchange(comm, halo);
}

}  // namespace

std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo,
                                               const ExchangeRequest& request) {
  if (size_of(comm) == 1) return nullptr;
  const GpuNeighbourhood gpus = neighbourhood(comm);
  const std::vector<ExchangeWay> ways = exchange_ways(gpus, request.way);
  for (std::size_t k = 0;; ++k) try {
      auto exchange = make(ways[k], comm, halo, request);
      exchange->why_no_peers = why_no_peers(gpus);
      return exchange;
    } catch (const AgreedError& error) {  // this exchange does not work here
      if (error.code() != ExitCode::resource || k + 1 == ways.size()) throw;
    }
}

}  // namespace trireme
