// SPDX-License-Identifier: BSD-3-Clause
// The order of the rows of a rank after a redistribution.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Whether rows and their columns lie far from each other: their mean distance is above a sixth of
// the rows, where it would be a third in a random order. The same on all ranks. Collective.
bool lacks_locality(MPI_Comm comm, const CsrView<double>& local);

// Reverse Cuthill-McKee on the nodes, which are `rows_per_node` consecutive rows and stay together;
// a last node of fewer rows stays last. The result has the former row at each place. Only the
// pattern is used.
Array<std::int32_t> order_of_nodes(const CsrView<double>& local, std::int64_t rows_per_node);

}  // namespace trireme
