// SPDX-License-Identifier: BSD-3-Clause
// Refuses what cannot fit into memory before any of it is asked for.
#pragma once

#include <mpi.h>

#include <string>

namespace trireme {

// Throws Error{resource} with the bytes needed and available unless `bytes` more fit: those that
// reading `name` takes at least. A real number, as claims of a file may overflow an integer.
void require_memory(const std::string& name, double bytes);

// The same for bytes that all ranks share evenly, where the ranks of a node share its memory.
// Collective.
void require_memory(MPI_Comm comm, const std::string& name, double bytes_of_all_ranks);

// Of a matrix in compressed rows: pointers and ids of 4 bytes, values of 8.
inline double csr_bytes(double rows, double nnz) { return 4 * (rows + 1) + 12 * nnz; }

}  // namespace trireme
