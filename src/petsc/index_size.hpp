// SPDX-License-Identifier: BSD-3-Clause
// How far the indices of this build's PETSc count.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace trireme {

// Throws Error{resource} where a system, which `name` names in the message, has more rows on all
// ranks together than PetscInt numbers: PETSc sees every matrix, if only as a shell. Collective.
void require_petsc_counts(MPI_Comm comm, const std::string& name, std::int64_t rows);

}  // namespace trireme
