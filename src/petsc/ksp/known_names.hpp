// SPDX-License-Identifier: BSD-3-Clause
// Whether this PETSc, with Trireme's types, knows a method and a preconditioner.
#pragma once

#include <petscksp.h>

#include "config/case.hpp"

namespace trireme {

// Throws Error{usage} with what was probably meant for a method or preconditioner that is neither
// Trireme's nor PETSc's. Collective.
void require_known_names(MPI_Comm comm, const SolverSpec& spec);

}  // namespace trireme
