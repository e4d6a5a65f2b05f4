// SPDX-License-Identifier: BSD-3-Clause
// Aggregates of the nodes of a graph: connected sets, each of which becomes one coarse node.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

struct Aggregates {
  Array<std::int32_t> of_node;  // the aggregate of each node; -1: an isolated node, which has none
  Array<std::int32_t> roots;    // a node of each aggregate, ascending
  std::int32_t count() const { return static_cast<std::int32_t>(roots.size()); }
};

// Each node of distance_two_set() is the root of an aggregate, which takes its neighbours. Any
// other node joins the aggregate to which it has the most edges. A node without neighbours is
// isolated, or an aggregate of its own if `keep_isolated`.
Aggregates aggregate(const NodeGraph& graph, bool keep_isolated = false);

// The same twice: the aggregates of the aggregates, numbered again.
Aggregates aggregate_twice(const NodeGraph& graph);

}  // namespace trireme::multigrid
