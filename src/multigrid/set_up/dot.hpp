// SPDX-License-Identifier: BSD-3-Clause
// The dot product of distributed vectors.
#pragma once

#include <mpi.h>

#include <span>

namespace trireme::multigrid {

// The sum over the rows of all ranks of `comm`, in an order that depends on the rows and ranks
// only. Collective.
double dot(MPI_Comm comm, std::span<const double> a, std::span<const double> b);

}  // namespace trireme::multigrid
