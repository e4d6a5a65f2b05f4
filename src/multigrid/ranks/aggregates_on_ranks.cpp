// SPDX-License-Identifier: BSD-3-Clause
// Aggregation with ghost nodes: each node looks for its root among its neighbours.
#include "multigrid/ranks/aggregates_on_ranks.hpp"

#include <numeric>
#include <span>
#include <utility>

#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/independent_set.hpp"
#include "multigrid/set_up/join_aggregate.hpp"
#include "parallel/collective.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// Takes the aggregate of the node itself if it is a root, or that of the root beside it.
struct FindRoot {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* rooted;  // the aggregate of a root; -1: no root
  std::int32_t* claimed;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::int32_t found = rooted[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (rooted[neighbour[k]] >= 0) found = rooted[neighbour[k]];
    claimed[node] = found;
  }
};

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
  for (std::int32_t& number : numbers)
    if (number >= 0) number = all[local(number)];
}

}  // namespace

RankAggregates aggregate(const RankGraph& g, bool keep_isolated) {
  const std::int32_t nodes = g.graph.nodes;
  const std::int32_t* const row_ptr = g.graph.row_ptr.data();
  const std::int32_t* const neighbour = g.graph.neighbour.data();
  const NodeExchange exchange = g.exchange();
  const Array<std::uint8_t> in_set = distance_two_set(g.graph, exchange, g.first());
  const auto is_root = [&](std::int64_t node) {
    return in_set[node] && (keep_isolated || row_ptr[node] < row_ptr[node + 1]);
  };
  Array<std::int32_t> number(nodes + 1), rooted(nodes + g.graph.ghosts), claimed(rooted.size());
  HostPlace::for_each(nodes, [&](std::int64_t node) { number[node] = is_root(node); });
  RankAggregates result{.of_node{},
                        .starts = starts_of(g.comm, HostPlace::sum_exclusively(number))};
  const auto first = static_cast<std::int32_t>(result.starts[rank_of(g.comm)]);
  HostPlace::for_each(
      nodes, [&](std::int64_t node) { rooted[node] = is_root(node) ? first + number[node] : -1; });
  exchange.fetch(std::span(rooted));
  HostPlace::for_each(nodes, FindRoot{row_ptr, neighbour, rooted.data(), claimed.data()});
  exchange.fetch(std::span(claimed));
  result.of_node.resize(nodes);
  HostPlace::for_each(
      nodes, JoinAggregate{row_ptr, neighbour, claimed.data(), g.first(), result.of_node.data()});
  return result;
}

RankAggregates aggregate_twice(const RankGraph& g) {
  RankAggregates fine = aggregate(g);
  Array<std::int32_t> part = fine.of_node;
  part.resize(g.graph.nodes + g.graph.ghosts);
  g.exchange().fetch(std::span(part));
  RankAggregates coarse = aggregate(quotient(g, part, fine.starts), true);
  look_up(g.comm, fine.starts, coarse.of_node, fine.of_node);
  return {.of_node = std::move(fine.of_node), .starts = std::move(coarse.starts)};
}

}  // namespace trireme::multigrid
