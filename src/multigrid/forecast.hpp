// SPDX-License-Identifier: BSD-3-Clause
// Whether the memory suffices for a hierarchy, before the work.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// An upper bound of the bytes that the set-up of a hierarchy takes beside the matrix at its peak,
// for this rank's rows; at most twice the peak. `width` is the number of near-nullspace vectors, or
// 0. The bound holds for discretised differential equations. A graph without a geometry takes more
//    while its
// smoothed prolongator is tried, and is then thinned or coarsened by plain aggregation.
std::int64_t forecast_bytes(const DistributedMatrix& matrix, std::int32_t width,
                            const Options& options);

// Throws Error{resource} with the figures on every rank where a node or a process has less memory
// than that. Collective.
void require_memory_of(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t width,
                       const Options& options);

}  // namespace trireme::multigrid
