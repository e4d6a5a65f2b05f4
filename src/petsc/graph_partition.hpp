// SPDX-License-Identifier: BSD-3-Clause
// Parts of a graph with few edges between them, by a library that PETSc was built with.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "base/array.hpp"
#include "distributed/row_graph.hpp"

namespace trireme {

// "PT-Scotch" or "ParMETIS". Empty where this PETSc was built with neither of them.
std::string_view graph_partitioner();

// The part, from 0, of each of this rank's vertices. Parts have about the same weight in sum; a
// part may be empty where there are few vertices. The result is the same from run to run with the
// same number of ranks. PETSc's options -mat_partitioning_* are read. Throws Error{usage} on every
// rank where graph_partitioner() is empty, Error{resource} where memory is missing. Collective.
Array<std::int32_t> partition_graph(MPI_Comm comm, RowGraph&& graph, int parts);

}  // namespace trireme
