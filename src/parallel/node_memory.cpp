// SPDX-License-Identifier: BSD-3-Clause
// Sums over the ranks that share memory.
#include "parallel/node_memory.hpp"

#include "base/available_memory.hpp"

namespace trireme {

NodeMemory node_memory(MPI_Comm comm, std::int64_t mine) {
  const AvailableMemory available = available_memory();
  NodeMemory memory{mine, available.shared, available.own};
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(MPI_IN_PLACE, &memory.needed, 1, MPI_INT64_T, MPI_SUM, node);
  MPI_Allreduce(MPI_IN_PLACE, &memory.shared, 1, MPI_INT64_T, MPI_MIN, node);
  MPI_Comm_free(&node);
  return memory;
}

}  // namespace trireme
