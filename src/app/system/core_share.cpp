// SPDX-License-Identifier: BSD-3-Clause
// The union of the ranks' CPU masks.
#include "app/system/core_share.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

// A bit per CPU.
using Cores = std::array<std::uint64_t, CPU_SETSIZE / 64>;

Cores own_cores() {
  Cores cores{};
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores[core / 64] |= std::uint64_t{1} << core % 64;
  return cores;
}

int count_of(const Cores& cores) {
  int count = 0;
  for (const std::uint64_t word : cores) count += std::popcount(word);
  return count;
}

}  // namespace

int share_of_cores(int cores, int own, int ranks) {
  return std::clamp(cores / std::max(ranks, 1), 1, std::max(own, 1));
}

void share_cores(MPI_Comm comm) {
  if (size_of(comm) == 1) return;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const Cores own = own_cores();
  Cores all = own;
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_BOR,
                node);
  const int ranks = size_of(node);
  MPI_Comm_free(&node);
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  if (count_of(own) == 0 || (asked && *asked)) return;
  omp_set_num_threads(share_of_cores(count_of(all), count_of(own), ranks));
}

}  // namespace trireme
