// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node need together, beside the memory that the node has.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace trireme {

// In bytes. A limit is the maximum of std::int64_t where the system sets none.
struct NodeMemory {
  std::int64_t needed;  // by all ranks of this node
  std::int64_t shared;  // available to all ranks of this node
  std::int64_t own;     // address space left to this rank
};

// `mine` is what this rank needs. Collective.
NodeMemory node_memory(MPI_Comm comm, std::int64_t mine);

}  // namespace trireme
