// SPDX-License-Identifier: BSD-3-Clause
// What ranks would hold after graph partitioning, found by one process.
#pragma once

#include <vector>

#include "sparse/csr.hpp"
#include "sparse/statistics.hpp"

namespace trireme {

// The share of each of `ranks` ranks of the whole matrix. The parts are those of one process; a
// solve on several ranks finds slightly different ones. Starts PETSc and ends it. Throws
// Error{usage} for a rectangular matrix, and where PETSc was built without a partitioner.
std::vector<RankShare> graph_shares(const RowSlab& whole, int ranks);

}  // namespace trireme
