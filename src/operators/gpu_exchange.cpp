// SPDX-License-Identifier: BSD-3-Clause
// The choice between the ways in which GPUs reach each other.
#include "operators/gpu_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "operators/petsc_shim.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// What tells one GPU from another, on any node.
using GpuName = std::array<char, 64>;

bool every_rank_has_its_own_gpu(MPI_Comm comm) {
  GpuName mine{};
  collectively(comm, [&] {
    const std::string uuid = device_properties().uuid;
    std::copy_n(uuid.begin(), std::min(uuid.size(), mine.size()), mine.begin());
  });
  std::vector<GpuName> all(size_of(comm));
  MPI_Allgather(mine.data(), mine.size(), MPI_CHAR, all.data(), mine.size(), MPI_CHAR, comm);
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

std::string asked_for() {
  char name[16] = "";
  PetscBool given = PETSC_FALSE;
  petsc_check(
      PetscOptionsGetString(nullptr, nullptr, "-trireme_exchange", name, sizeof name, &given));
  return name;
}

// Null where it does not work here, which every rank learns.
template <class Make>
std::unique_ptr<GpuExchange> attempt(const Make& make, MPI_Comm comm, const HaloPlan& halo) {
  try {
    return make(comm, halo);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo) {
  if (size_of(comm) == 1) return nullptr;
  const std::string name = asked_for();
  if (name == "mpi") return make_mpi_exchange(comm, halo);
  if (!name.empty() && name != "peer" && name != "nccl")
    fail(ExitCode::usage, "-trireme_exchange {} is none of peer, nccl, mpi", name);
  const bool own_gpus = every_rank_has_its_own_gpu(comm);
  if (!name.empty() && !own_gpus)
    fail(ExitCode::resource,
         "-trireme_exchange {} needs a GPU for each rank; start fewer ranks, or take mpi", name);
  if (name == "peer") return make_peer_exchange(comm, halo);
  if (name == "nccl") return make_nccl_exchange(comm, halo);
  if (own_gpus) {
    if (on_one_node(comm) && size_of(comm) <= PeerSums::most_ranks)
      if (auto exchange = attempt(make_peer_exchange, comm, halo)) return exchange;
    if (auto exchange = attempt(make_nccl_exchange, comm, halo)) return exchange;
  }
  return make_mpi_exchange(comm, halo);
}

}  // namespace trireme
