// SPDX-License-Identifier: BSD-3-Clause
// Maximal independent sets of distance two, by rounds over the nodes that are undecided.
#include "multigrid/set_up/independent_set.hpp"

#include <span>

#include "base/split_mix.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/independent_set_rounds.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

Array<std::uint8_t> distance_two_set(const NodeGraph& graph) {
  const NodeExchange ghosts = graph.exchange();
  const auto first = static_cast<std::uint64_t>(graph.first());
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  Array<NodeState> state(graph.columns()), smallest(graph.columns());
  Array<std::int32_t> undecided(graph.nodes);
  HostPlace::for_each(graph.nodes,
                      [&](std::int64_t i) { undecided[i] = static_cast<std::int32_t>(i); });
  Array<std::int32_t> reached = undecided;  // nodes whose smallest state still matters
  for (std::uint64_t round = 0; ghosts.max(static_cast<double>(undecided.size())) > 0; ++round) {
    HostPlace::for_each(std::ssize(undecided),
                        DrawNumber{undecided.data(), round, first, state.data()});
    ghosts.fetch(std::span(state));
    HostPlace::for_each(std::ssize(reached), FindSmallest{reached.data(), row_ptr, neighbour,
                                                          state.data(), smallest.data()});
    ghosts.fetch(std::span(smallest));
    HostPlace::for_each(std::ssize(undecided), Decide{undecided.data(), row_ptr, neighbour,
                                                      smallest.data(), state.data()});
    HostPlace::erase_if(undecided, [&](std::int32_t node) {
      return state[node] == kInSet || state[node] == kOutside;
    });
    HostPlace::erase_if(reached, [&](std::int32_t node) { return smallest[node] == kOutside; });
  }
  Array<std::uint8_t> in_set(graph.nodes);
  HostPlace::for_each(graph.nodes, [&](std::int64_t i) { in_set[i] = state[i] == kInSet; });
  return in_set;
}

}  // namespace trireme::multigrid
