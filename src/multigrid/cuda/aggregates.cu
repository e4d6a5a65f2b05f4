// SPDX-License-Identifier: BSD-3-Clause
// Aggregation on a GPU, by the functors of independent_set_rounds.hpp and join_aggregate.hpp.
#include <utility>

#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/node_graph.cuh"
#include "multigrid/set_up/claim_aggregate.hpp"
#include "multigrid/set_up/independent_set_rounds.hpp"
#include "multigrid/set_up/join_aggregate.hpp"

namespace trireme::multigrid {
namespace {

struct CountUp {
  std::int32_t* to;
  __device__ void operator()(std::int64_t i) const { to[i] = static_cast<std::int32_t>(i); }
};
struct IsUndecided {
  const NodeState* state;
  __device__ bool operator()(std::int32_t node) const {
    return state[node] != kInSet && state[node] != kOutside;
  }
};
struct StillMatters {
  const NodeState* smallest;
  __device__ bool operator()(std::int32_t node) const { return smallest[node] != kOutside; }
};
struct IsRoot {
  const NodeState* state;
  const std::int32_t* row_ptr;
  bool keep_isolated;
  __device__ bool operator()(std::int32_t node) const {
    return state[node] == kInSet && (keep_isolated || row_ptr[node] < row_ptr[node + 1]);
  }
};
struct Unclaim {
  std::int32_t* claimed;
  __device__ void operator()(std::int64_t node) const { claimed[node] = -1; }
};
// to[i] = table[numbers[i]], or -1 for -1
struct Renumber {
  const std::int32_t* numbers;
  const std::int32_t* table;
  std::int32_t* to;
  __device__ void operator()(std::int64_t i) const {
    to[i] = numbers[i] < 0 ? -1 : table[numbers[i]];
  }
};

// The number of each root's aggregate, by node.
struct NumberRoots {
  const std::int32_t* roots;
  std::int32_t first;
  std::int32_t* claimed;
  __device__ void operator()(std::int64_t number) const {
    claimed[roots[number]] = first + static_cast<std::int32_t>(number);
  }
};

// The state of each node: kInSet or kOutside.
ScratchBuffer<NodeState> distance_two_set(const DeviceGraph& graph, const CudaPlace& place,
                                          std::int64_t first_node = 0,
                                          const DeviceGhosts& ghosts = {}) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  const std::int64_t columns = graph.nodes + ghosts.ghosts();
  ScratchBuffer<NodeState> state = place.array<NodeState>(columns);
  const auto smallest = place.array<NodeState>(columns);
  auto undecided = place.array<std::int32_t>(graph.nodes);
  auto reached = place.array<std::int32_t>(graph.nodes);
  place.for_each(graph.nodes, CountUp{undecided.data()});
  place.for_each(graph.nodes, CountUp{reached.data()});
  const auto any_left = [&] {
    return ghosts.alone() ? !undecided.empty() : ghosts.max(undecided.empty() ? 0 : 1) > 0;
  };
  for (std::uint64_t round = 0; any_left(); ++round) {
    const auto left = static_cast<std::int64_t>(undecided.size());
    place.for_each(left, DrawNumber{undecided.data(), round, static_cast<std::uint64_t>(first_node),
                                    state.data()});
    ghosts.fetch(state.data());
    place.for_each(static_cast<std::int64_t>(reached.size()),
                   FindSmallest{reached.data(), row_ptr, neighbour, state.data(), smallest.data()});
    ghosts.fetch(smallest.data());
    place.for_each(left,
                   Decide{undecided.data(), row_ptr, neighbour, smallest.data(), state.data()});
    undecided = place.select(undecided.view(), IsUndecided{state.data()});
    if (!ghosts.alone() || !undecided.empty())
      reached = place.select(reached.view(), StillMatters{smallest.data()});
  }
  return state;
}

}  // namespace

DeviceAggregates aggregate(const DeviceGraph& graph, bool keep_isolated, StreamRef stream) {
  const CudaPlace place(stream);
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  const auto state = distance_two_set(graph, place);
  DeviceAggregates result{place.array<std::int32_t>(graph.nodes),
                          place.select(graph.nodes, IsRoot{state.data(), row_ptr, keep_isolated})};
  const auto claimed = place.array<std::int32_t>(graph.nodes);
  place.for_each(graph.nodes, Unclaim{claimed.data()});
  place.for_each(result.count(),
                 ClaimAggregate{result.roots.data(), row_ptr, neighbour, claimed.data()});
  place.for_each(graph.nodes,
                 JoinAggregate{row_ptr, neighbour, claimed.data(), 0, result.of_node.data()});
  return result;
}

DeviceAggregates aggregate_on_ranks(const DeviceGraph& graph, std::int64_t first_node,
                                    const DeviceGhosts& exchange, std::vector<std::int64_t>& starts,
                                    StreamRef stream) {
  const CudaPlace place(stream);
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  const std::int64_t columns = graph.nodes + exchange.ghosts();
  const auto state = distance_two_set(graph, place, first_node, exchange);
  DeviceAggregates result{place.array<std::int32_t>(graph.nodes),
                          place.select(graph.nodes, IsRoot{state.data(), row_ptr, false})};
  starts = exchange.starts_of(result.count());
  const auto first = static_cast<std::int32_t>(starts[exchange.rank()]);
  const auto claimed = place.array<std::int32_t>(columns);
  place.for_each(columns, Unclaim{claimed.data()});
  place.for_each(result.count(), NumberRoots{result.roots.data(), first, claimed.data()});
  exchange.fetch(claimed.data());
  place.for_each(graph.nodes, FindGhostRoot{row_ptr, neighbour, graph.nodes, claimed.data()});
  place.for_each(result.count(),
                 ClaimAggregate{result.roots.data(), row_ptr, neighbour, claimed.data(), first});
  exchange.fetch(claimed.data());
  place.for_each(graph.nodes, JoinAggregate{row_ptr, neighbour, claimed.data(), first_node,
                                            result.of_node.data()});
  return result;
}

DeviceAggregates aggregate_twice(const DeviceGraph& graph, StreamRef stream) {
  const CudaPlace place(stream);
  const DeviceAggregates fine = aggregate(graph, false, stream);
  // An aggregate without neighbours stays as it is.
  const DeviceAggregates coarse =
      aggregate(quotient(graph, fine.of_node.view(), fine.count(), place), true, stream);
  DeviceAggregates result{place.array<std::int32_t>(graph.nodes),
                          place.array<std::int32_t>(coarse.count())};
  place.for_each(graph.nodes,
                 Renumber{fine.of_node.data(), coarse.of_node.data(), result.of_node.data()});
  place.for_each(coarse.count(),
                 Renumber{coarse.roots.data(), fine.roots.data(), result.roots.data()});
  return result;
}

}  // namespace trireme::multigrid
