// SPDX-License-Identifier: BSD-3-Clause
// Near-nullspace vectors between PETSc and Trireme: MatSetNearNullSpace in both directions.
#pragma once

#include <petscmat.h>

#include <vector>

#include "config/case.hpp"
#include "multigrid/near_nullspace.hpp"
#include "sparse/modes.hpp"

namespace trireme {

// The vectors that MatSetNearNullSpace gave to `mat`, this rank's rows. A null space that has the
// constant (has_cnst of MatNullSpaceCreate) has it as the first vector. Width 0 where `mat` has no
// near-null space.
multigrid::NearNullspace near_nullspace_of(Mat mat);

// PETSc's numbers of the near-null space of `mat` and of its vectors, and the counters of their
// changes: equal ones mean equal vectors. Empty where there is none.
std::vector<PetscObjectState> near_nullspace_state(Mat mat);

// Gives `mat` the block size of `modes`, unless the option -mat_block_size is given, and the modes
// as its near-null space. With constants the near-null space stays as it is, because constants are
// what preconditioners take without one. The modes are orthonormal over all ranks. Collective.
void set_near_nullspace(Mat mat, const Modes& modes);

// Whether the preconditioner may ask for near-nullspace vectors: multigrid of any kind may, Jacobi
// and incomplete factorisations do not. `preconditioner: auto` may come to multigrid. The option
// -pc_type wins over the SolverSpec.
bool may_use_near_nullspace(const SolverSpec& solver);

}  // namespace trireme
