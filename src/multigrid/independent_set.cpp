// SPDX-License-Identifier: BSD-3-Clause
// Maximal independent sets of distance two, by rounds over the nodes that are undecided.
#include "multigrid/independent_set.hpp"

#include <numeric>
#include <span>

#include "base/split_mix.hpp"
#include "multigrid/host_place.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// The state of a node: a random number over its own number, which no other node has; or a decision.
using State = std::uint64_t;
constexpr State kInSet = 0;
constexpr State kOutside = ~State{0};

struct Draw {
  const std::int32_t* undecided;
  std::uint64_t round;
  std::uint64_t first;  // the number of node 0 in the whole graph
  State* state;

  TRIREME_HD void operator()(std::int64_t at) const {
    const std::uint64_t node = first + static_cast<std::uint64_t>(undecided[at]);
    state[undecided[at]] = (split_mix(node, round) >> 32 << 32 | node) + 1;
  }
};

// The smallest state among a node and its neighbours. A node beside one of the set is itself no
// choice any more, nor are its neighbours.
struct FindSmallest {
  const std::int32_t* nodes;
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const State* state;
  State* smallest;

  TRIREME_HD void operator()(std::int64_t at) const {
    const std::int32_t node = nodes[at];
    State least = state[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const State other = state[neighbour[k]];
      least = other < least ? other : least;
    }
    smallest[node] = least == kInSet ? kOutside : least;
  }
};

struct Decide {
  const std::int32_t* undecided;
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const State* smallest;
  State* state;

  TRIREME_HD void operator()(std::int64_t at) const {
    const std::int32_t node = undecided[at];
    const State own = state[node];
    bool wins = smallest[node] == own, loses = smallest[node] == kOutside;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const State other = smallest[neighbour[k]];
      wins = wins && other == own;
      loses = loses || other == kOutside;
    }
    if (loses)
      state[node] = kOutside;
    else if (wins)
      state[node] = kInSet;
  }
};

}  // namespace

Array<std::uint8_t> distance_two_set(const NodeGraph& graph, const NodeExchange& ghosts,
                                     std::int64_t first) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  const std::int32_t* const neighbour = graph.neighbour.data();
  Array<State> state(graph.nodes + graph.ghosts), smallest(graph.nodes + graph.ghosts);
  Array<std::int32_t> undecided(graph.nodes);
  std::iota(undecided.begin(), undecided.end(), 0);
  Array<std::int32_t> reached = undecided;  // nodes whose smallest state still matters
  for (std::uint64_t round = 0; ghosts.max(static_cast<double>(undecided.size())) > 0; ++round) {
    HostPlace::for_each(
        std::ssize(undecided),
        Draw{undecided.data(), round, static_cast<std::uint64_t>(first), state.data()});
    ghosts.fetch(std::span(state));
    HostPlace::for_each(std::ssize(reached), FindSmallest{reached.data(), row_ptr, neighbour,
                                                          state.data(), smallest.data()});
    ghosts.fetch(std::span(smallest));
    HostPlace::for_each(std::ssize(undecided), Decide{undecided.data(), row_ptr, neighbour,
                                                      smallest.data(), state.data()});
    std::erase_if(undecided, [&](std::int32_t node) {
      return state[node] == kInSet || state[node] == kOutside;
    });
    std::erase_if(reached, [&](std::int32_t node) { return smallest[node] == kOutside; });
  }
  Array<std::uint8_t> in_set(graph.nodes);
  HostPlace::for_each(graph.nodes, [&](std::int64_t i) { in_set[i] = state[i] == kInSet; });
  return in_set;
}

}  // namespace trireme::multigrid
