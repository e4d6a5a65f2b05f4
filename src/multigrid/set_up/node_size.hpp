// SPDX-License-Identifier: BSD-3-Clause
// How many consecutive rows are the unknowns of one node, where nobody has said it: displacements
// of an elastic body, components of a velocity.
#pragma once

#include <cstdint>

#include "distributed/distributed_matrix.hpp"

namespace trireme::multigrid {

inline constexpr std::int32_t kLargestNode = 8;  // rows that are looked for

// The largest number b of rows, up to kLargestNode, for which a sample of the nodes has either
// nearly full b x b blocks, or blocks that are diagonal (b fields that do not see each other, on
// one mesh) where all rows of a node have nearly the same nodes as neighbours; 1 where there is
// none. On several ranks, where the rows of each begin and end with a node. Collective.
std::int32_t find_node_size(const DistributedMatrix& matrix);

}  // namespace trireme::multigrid
