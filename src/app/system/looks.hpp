// SPDX-License-Identifier: BSD-3-Clause
// All that can be seen of a square matrix before a solve.
#pragma once

#include <mpi.h>

#include "distributed/matrix_look.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct Looks {
  MatrixLook first;
  CloserLook closer;
};
// Of a whole matrix on the one rank of `comm`. Throws Error{input} for a matrix that is not square.
Looks looks_of(MPI_Comm comm, RowSlab&& slab);

}  // namespace trireme
