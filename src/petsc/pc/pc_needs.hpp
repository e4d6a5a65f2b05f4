// SPDX-License-Identifier: BSD-3-Clause
// What a preconditioner of a KSP needs of the matrix.
#pragma once

#include <petscksp.h>

#include "distributed/distributed_matrix.hpp"
#include "petsc/pc/pc_types.hpp"

namespace trireme {

PC pc_of(KSP ksp);

// Whether the PC reads entries of the matrix, beyond its diagonal.
bool needs_entries(PC pc);

// Whether the PC is D^-1 with the diagonal D as it is, in which a zero counts as 1.
bool inverts_the_diagonal(PC pc);
// Where the PC divides by the entries of the diagonal, throws Error{input} that names the first row
// with a zero there. PETSc would find it only in the solve, on the rank that has the row.
// Collective.
void require_nonzero_diagonal(const DistributedMatrix& matrix, PC pc);

// Whether the PC is block Jacobi or additive Schwarz with blocks of one rank each, so that their
// set-up does not communicate. Collective.
bool blocks_belong_to_ranks(PC pc);

}  // namespace trireme
