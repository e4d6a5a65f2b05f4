// SPDX-License-Identifier: BSD-3-Clause
// The tentative prolongator of aggregates whose nodes lie on several ranks.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "multigrid/near_nullspace.hpp"
#include "multigrid/ranks/aggregates_on_ranks.hpp"
#include "multigrid/set_up/prolongator.hpp"

namespace trireme::multigrid {

// The values of this rank's rows, and the coarse modes of this rank's aggregates. The numbers are
// those of one rank: the owner of an aggregate gets its rows of the modes and factors them. Throws
// Error{input} on every rank for a mode that is not finite. Collective.
Tentative make_tentative(MPI_Comm comm, const RankAggregates& aggregates,
                         const NearNullspace& modes, std::int32_t block_size);

}  // namespace trireme::multigrid
