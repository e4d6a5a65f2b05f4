// SPDX-License-Identifier: BSD-3-Clause
// Refuses data that cannot fit into memory before any of it is allocated.
#pragma once

#include <mpi.h>

#include <string>

namespace trireme {

// Throws Error{resource} unless `bytes` more are available. `bytes` is a lower bound of the memory
// that `name`, which stands in the message, needs. It is a real number because the claims of a file
// may overflow an integer.
void require_memory(const std::string& name, double bytes);

// The same for bytes that lie evenly on all ranks, where the ranks of a node share its memory.
// Collective.
void require_memory(MPI_Comm comm, const std::string& name, double bytes_of_all_ranks);

// The bytes of a matrix in compressed rows: pointers and column ids of 4 bytes, values of 8.
inline double csr_bytes(double rows, double nnz) { return 4 * (rows + 1) + 12 * nnz; }

}  // namespace trireme
