// SPDX-License-Identifier: BSD-3-Clause
// Pairs of neighbours of a graph whose vertices lie on the ranks.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "partitioning/weighted_graph.hpp"

namespace trireme::partitioning {

// The local number of each vertex's partner, which may be a ghost; its own number where it has
// none. No pair weighs more than `max_weight`. Each round pairs the vertices that prefer each
// other: a vertex prefers the neighbour with the heaviest edge, and of those the edge with the
// largest hash, so that all ranks agree and the pairs depend on the whole graph only. (Heavy-edge
// matching: Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998, section 3; mutual preferences: Birn,
// Osipov, Sanders, Schulz and Sitchinava, Euro-Par 2013, section 2.) Collective.
Array<std::int32_t> heavy_edge_matching(const WeightedGraph& graph, std::int64_t max_weight);

}  // namespace trireme::partitioning
