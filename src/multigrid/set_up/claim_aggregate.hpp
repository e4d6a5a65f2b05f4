// SPDX-License-Identifier: BSD-3-Clause
// How roots get their aggregates.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

// Gives a root's aggregate to the root and its neighbours. No node is beside two roots.
struct ClaimAggregate {
  const std::int32_t* roots;
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t* aggregate;
  std::int32_t first = 0;  // the number of the first root's aggregate

  TRIREME_HD void operator()(std::int64_t number) const {
    const std::int32_t root = roots[number];
    const std::int32_t own = first + static_cast<std::int32_t>(number);
    aggregate[root] = own;
    for (std::int32_t k = row_ptr[root]; k < row_ptr[root + 1]; ++k) aggregate[neighbour[k]] = own;
  }
};

// Gives a node beside a root of another rank that root's aggregate.
struct FindGhostRoot {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t nodes;       // those from here on are ghosts
  std::int32_t* aggregate;  // of a ghost: -1 unless it is a root

  TRIREME_HD void operator()(std::int64_t node) const {
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (neighbour[k] >= nodes && aggregate[neighbour[k]] >= 0)
        aggregate[node] = aggregate[neighbour[k]];
  }
};

}  // namespace trireme::multigrid
