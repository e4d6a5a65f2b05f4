// SPDX-License-Identifier: BSD-3-Clause
// What a report says about a hierarchy.
#pragma once

#include <mpi.h>

#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "report/multigrid_outcome.hpp"

namespace trireme {

// `on_device` is its form on a GPU, or null. Collective.
MultigridOutcome outcome_of(MPI_Comm comm, const multigrid::Hierarchy& hierarchy,
                            const multigrid::CudaHierarchy* on_device);

}  // namespace trireme
