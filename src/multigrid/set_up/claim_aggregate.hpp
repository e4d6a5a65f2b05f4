// SPDX-License-Identifier: BSD-3-Clause
// How a root gets its aggregate.
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

  TRIREME_HD void operator()(std::int64_t number) const {
    const std::int32_t root = roots[number];
    aggregate[root] = static_cast<std::int32_t>(number);
    for (std::int32_t k = row_ptr[root]; k < row_ptr[root + 1]; ++k)
      aggregate[neighbour[k]] = static_cast<std::int32_t>(number);
  }
};

}  // namespace trireme::multigrid
