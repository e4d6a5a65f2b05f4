// SPDX-License-Identifier: BSD-3-Clause
// Tells PETSc how many rows of a matrix belong together.
#pragma once

#include "distributed/distributed_matrix.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The value of the option -mat_block_size; 1 where the option is not given. Throws Error{usage} for
// a value below 1.
PetscInt block_size_option();

// Sets the block size of `mat` to the value of -mat_block_size, as MatSetFromOptions would; `mat`
// holds `matrix`. Throws Error{usage} where the value does not divide the rows of every rank.
// Collective.
void set_block_size_from_options(Mat mat, const DistributedMatrix& matrix);

// Calls MatSetVariableBlockSizes with the row groups that row_groups.hpp finds in the pattern.
void set_row_groups(Mat mat, const DistributedMatrix& matrix);

}  // namespace trireme
