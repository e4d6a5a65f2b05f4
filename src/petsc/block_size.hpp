// SPDX-License-Identifier: BSD-3-Clause
// How many rows of a matrix belong together, said to PETSc.
#pragma once

#include "distributed/distributed_matrix.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The option -mat_block_size, 1 where it is not given. Throws Error{usage} for less than 1.
PetscInt block_size_option();

// The block size that the option -mat_block_size gives, as MatSetFromOptions would set it; the Mat
// holds `matrix`. Throws Error{usage} where it does not divide every rank's rows. Collective.
void set_block_size_from_options(Mat mat, const DistributedMatrix& matrix);

// MatSetVariableBlockSizes by the pattern: see row_groups.hpp.
void set_row_groups(Mat mat, const DistributedMatrix& matrix);

}  // namespace trireme
