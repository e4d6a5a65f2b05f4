// SPDX-License-Identifier: BSD-3-Clause
// The functors of one round of independent_set.hpp.
#pragma once

#include <cstdint>

#include "base/split_mix.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// The state of a node: a random number over its own number, which no other node has; or a decision.
using NodeState = std::uint64_t;
inline constexpr NodeState kInSet = 0;
inline constexpr NodeState kOutside = ~NodeState{0};

struct DrawNumber {
  const std::int32_t* undecided;
  std::uint64_t round;
  std::uint64_t first;  // the number of node 0 in the whole graph
  NodeState* state;

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
  const NodeState* state;
  NodeState* smallest;

  TRIREME_HD void operator()(std::int64_t at) const {
    const std::int32_t node = nodes[at];
    NodeState least = state[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const NodeState other = state[neighbour[k]];
      least = other < least ? other : least;
    }
    smallest[node] = least == kInSet ? kOutside : least;
  }
};

struct Decide {
  const std::int32_t* undecided;
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const NodeState* smallest;
  NodeState* state;

  TRIREME_HD void operator()(std::int64_t at) const {
    const std::int32_t node = undecided[at];
    const NodeState own = state[node];
    bool wins = smallest[node] == own, loses = smallest[node] == kOutside;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const NodeState other = smallest[neighbour[k]];
      wins = wins && other == own;
      loses = loses || other == kOutside;
    }
    if (loses)
      state[node] = kOutside;
    else if (wins)
      state[node] = kInSet;
  }
};

}  // namespace trireme::multigrid
