// SPDX-License-Identifier: BSD-3-Clause
// Parts of a graph that get fewer edges between them by moves of single vertices.
#pragma once

#include <cstdint>
#include <span>

#include "partitioning/weighted_graph.hpp"

namespace trireme::partitioning {

// `part` has the parts, 0 to parts-1, of this rank's vertices and behind them of the ghosts. A
// vertex at the border of its part moves to the part to which most of its edges lead, if fewer
// edges are cut then, or if as many are and the weights of the two parts come closer. A part grows
// to at most `max_weight`. All moves of a pass lead to higher parts, or all lead to lower ones, so
// that two neighbours on two ranks do not change places (Karypis and Kumar, "Parallel multilevel
// k-way partitioning", SIAM Review 41, 1999, section 3.3). The result depends on the graph and on
// the number of ranks. Collective.
void refine_parts(const WeightedGraph& graph, int parts, std::int64_t max_weight,
                  std::span<std::int32_t> part);

}  // namespace trireme::partitioning
