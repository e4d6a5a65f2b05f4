// SPDX-License-Identifier: BSD-3-Clause
// Aggregates of the nodes of a graph: connected sets, each of which becomes one coarse node. An
// aggregate may have nodes of any ranks, and belongs to the rank of its root. The aggregates and
// their numbers do not depend on the ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

struct Aggregates {
  // The global number of the aggregate of each node of this rank; -1: an isolated node, which has
  // none.
  Array<std::int32_t> of_node;
  Array<std::int32_t> roots;         // the root of each aggregate of this rank, ascending
  std::vector<std::int64_t> starts;  // rank r has the aggregates starts[r] .. starts[r+1]-1
  std::int32_t count() const { return static_cast<std::int32_t>(roots.size()); }  // of this rank
};

// Each node of distance_two_set() is the root of an aggregate, which takes its neighbours. Any
// other node joins the aggregate to which it has the most edges. A node without neighbours is
// isolated, or an aggregate of its own if `keep_isolated`. Collective.
Aggregates aggregate(const NodeGraph& graph, bool keep_isolated = false);

// The same twice: the aggregates of the aggregates, numbered again. Collective.
Aggregates aggregate_twice(const NodeGraph& graph);

}  // namespace trireme::multigrid
