// SPDX-License-Identifier: BSD-3-Clause
// Whether the memory suffices for a hierarchy, before the work.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// A lower bound of the bytes that a hierarchy takes beside the matrix, of this rank's rows. `width`
// is the number of near-nullspace vectors, or 0.
std::int64_t forecast_bytes(const DistributedMatrix& matrix, std::int32_t width,
                            const Options& options);

// Throws Error{resource} with the figures on every rank where a node or a process has less memory
// than that. Collective.
void require_memory_of(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t width,
                       const Options& options);

}  // namespace trireme::multigrid
