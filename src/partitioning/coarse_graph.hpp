// SPDX-License-Identifier: BSD-3-Clause
// The graph of pairs of vertices, and parts of it brought back to the vertices.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "distributed/row_graph.hpp"
#include "partitioning/weighted_graph.hpp"

namespace trireme::partitioning {

// A vertex of the result stands for a pair of `mate` (matching.hpp) or for a vertex without a
// partner, and lies on the rank of one of them, which a hash chooses. Weights of vertices and edges
// are sums. The vertices of a rank have the order of those that they stand for. Throws
// Error{resource} on every rank where a rank would have more than 2^31-1 edges. Collective.
RowGraph coarse_graph(const WeightedGraph& graph, std::span<const std::int32_t> mate);

// The parts of this rank's vertices and of the ghosts, from those of this rank's vertices of
// coarse_graph(). Collective.
Array<std::int32_t> parts_of_vertices(const WeightedGraph& graph,
                                      std::span<const std::int32_t> mate,
                                      std::span<const std::int32_t> coarse_parts);

}  // namespace trireme::partitioning
