// SPDX-License-Identifier: BSD-3-Clause
// Aggregation around the nodes of an independent set.
#include "multigrid/set_up/aggregates.hpp"

#include <numeric>
#include <span>
#include <utility>

#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/claim_aggregate.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/independent_set.hpp"
#include "multigrid/set_up/join_aggregate.hpp"
#include "parallel/collective.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

std::vector<std::int64_t> starts_of(MPI_Comm comm, std::int64_t mine) {
  std::vector<std::int64_t> starts(size_of(comm) + 1, 0);
  MPI_Allgather(&mine, 1, MPI_INT64_T, starts.data() + 1, 1, MPI_INT64_T, comm);
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// Replaces numbers of aggregates by what the aggregates' owners have in `values`.
void look_up(MPI_Comm comm, const std::vector<std::int64_t>& starts,
             std::span<const std::int32_t> values, Array<std::int32_t>& numbers) {
  const std::int64_t first = starts[rank_of(comm)], own = std::ssize(values);
  const Array<std::int32_t> others = others_among(numbers, first, own);
  const HaloPlan halo = plan_halo(comm, starts, others);
  Array<std::int32_t> all(values.begin(), values.end());
  all.resize(own + std::ssize(others));
  NodeExchange(comm, halo, own).fetch(std::span(all));
  const LocalNumbers local(first, own, others);
  HostPlace::for_each(std::ssize(numbers), [&](std::int64_t node) {
    if (numbers[node] >= 0) numbers[node] = all[local(numbers[node])];
  });
}

}  // namespace

Aggregates aggregate(const NodeGraph& graph, bool keep_isolated) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  const NodeExchange exchange = graph.exchange();
  const Array<std::uint8_t> in_set = distance_two_set(graph);
  Aggregates result;
  result.roots.resize(graph.nodes);
  result.of_node.resize(graph.nodes);
  Array<std::int32_t> claimed(graph.columns());
  HostPlace::for_each(graph.nodes, [&](std::int64_t node) {
    result.roots[node] = static_cast<std::int32_t>(node);
    claimed[node] = -1;
  });
  HostPlace::erase_if(result.roots, [&](std::int32_t node) {
    return !in_set[node] || (!keep_isolated && row_ptr[node] == row_ptr[node + 1]);
  });
  result.starts = starts_of(graph.comm, result.count());
  const auto first = static_cast<std::int32_t>(result.starts[rank_of(graph.comm)]);
  if (!graph.halo.empty()) {
    HostPlace::for_each(result.count(), [&](std::int64_t number) {
      claimed[result.roots[number]] = first + static_cast<std::int32_t>(number);
    });
    exchange.fetch(std::span(claimed));
    HostPlace::for_each(graph.nodes,
                        FindGhostRoot{row_ptr, neighbour, graph.nodes, claimed.data()});
  }
  HostPlace::for_each(result.count(), ClaimAggregate{result.roots.data(), row_ptr, neighbour,
                                                     claimed.data(), first});
  exchange.fetch(std::span(claimed));
  HostPlace::for_each(graph.nodes, JoinAggregate{row_ptr, neighbour, claimed.data(), graph.first(),
                                                 result.of_node.data()});
  return result;
}

Aggregates aggregate_twice(const NodeGraph& graph) {
  Aggregates fine = aggregate(graph);
  Array<std::int32_t> part = fine.of_node;
  part.resize(graph.columns());
  graph.exchange().fetch(std::span(part));
  Aggregates coarse = aggregate(quotient(graph, part, fine.starts), true);
  look_up(graph.comm, fine.starts, coarse.of_node, fine.of_node);
  for (std::int32_t& root : coarse.roots) root = fine.roots[root];
  return {.of_node = std::move(fine.of_node),
          .roots = std::move(coarse.roots),
          .starts = std::move(coarse.starts)};
}

}  // namespace trireme::multigrid
