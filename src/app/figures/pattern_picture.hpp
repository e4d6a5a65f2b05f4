// SPDX-License-Identifier: BSD-3-Clause
// The picture of the matrix that reports show.
#pragma once

#include "distributed/distributed_matrix.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Returns the same picture of the whole matrix on every rank. Reads the columns of all nonzeros
// once. Collective, as is the other function.
PatternPicture picture_of(MPI_Comm comm, const RowSlab& slab);
PatternPicture picture_of(const DistributedMatrix& matrix);

}  // namespace trireme
