// SPDX-License-Identifier: BSD-3-Clause
// What a report says about a hierarchy.
#pragma once

#include <mpi.h>

#include "multigrid/facts.hpp"
#include "report/multigrid_outcome.hpp"

namespace trireme {

// Collective.
MultigridOutcome outcome_of(MPI_Comm comm, const multigrid::HierarchyFacts& facts);

}  // namespace trireme
