// SPDX-License-Identifier: BSD-3-Clause
// Aggregates of nodes that lie on several ranks. An aggregate may have nodes of any ranks, and
// belongs to the rank of its root. The aggregates are those that one rank would find, and have the
// same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "multigrid/ranks/rank_graph.hpp"

namespace trireme::multigrid {

struct RankAggregates {
  Array<std::int32_t> of_node;       // by node of this rank: the global number, or -1 (isolated)
  std::vector<std::int64_t> starts;  // rank r has the aggregates starts[r] .. starts[r+1]-1
};

// By the rules of aggregate(). Nodes without neighbours are isolated, or aggregates of their own if
// `keep_isolated`. Collective.
RankAggregates aggregate(const RankGraph& graph, bool keep_isolated = false);

// By those of aggregate_twice(). Collective.
RankAggregates aggregate_twice(const RankGraph& graph);

}  // namespace trireme::multigrid
