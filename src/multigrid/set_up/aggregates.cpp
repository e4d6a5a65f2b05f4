// SPDX-License-Identifier: BSD-3-Clause
// Aggregation around the nodes of an independent set.
#include "multigrid/set_up/aggregates.hpp"

#include "multigrid/set_up/claim_aggregate.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/independent_set.hpp"
#include "multigrid/set_up/join_aggregate.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

Aggregates aggregate(const NodeGraph& graph, bool keep_isolated) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  const Array<std::uint8_t> in_set = distance_two_set(graph);
  Aggregates result;
  result.roots.resize(graph.nodes);
  result.of_node.resize(graph.nodes);
  Array<std::int32_t> claimed(graph.nodes);
  HostPlace::for_each(graph.nodes, [&](std::int64_t node) {
    result.roots[node] = static_cast<std::int32_t>(node);
    claimed[node] = -1;
  });
  HostPlace::erase_if(result.roots, [&](std::int32_t node) {
    return !in_set[node] || (!keep_isolated && row_ptr[node] == row_ptr[node + 1]);
  });
  HostPlace::for_each(result.count(),
                      ClaimAggregate{result.roots.data(), row_ptr, neighbour, claimed.data()});
  HostPlace::for_each(graph.nodes,
                      JoinAggregate{row_ptr, neighbour, claimed.data(), 0, result.of_node.data()});
  return result;
}

Aggregates aggregate_twice(const NodeGraph& graph) {
  Aggregates fine = aggregate(graph);
  const Aggregates coarse = aggregate(quotient(graph, fine.of_node, fine.count()), true);
  HostPlace::for_each(graph.nodes, [&](std::int64_t node) {
    std::int32_t& number = fine.of_node[node];
    if (number >= 0) number = coarse.of_node[number];
  });
  Array<std::int32_t> roots(coarse.roots.size());
  for (std::int32_t number = 0; number < coarse.count(); ++number)
    roots[number] = fine.roots[coarse.roots[number]];
  fine.roots = std::move(roots);
  return fine;
}

}  // namespace trireme::multigrid
