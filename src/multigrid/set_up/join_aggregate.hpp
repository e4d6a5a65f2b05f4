// SPDX-License-Identifier: BSD-3-Clause
// How a node that is beside no root finds its aggregate.
#pragma once

#include <cstdint>

#include "base/split_mix.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// The aggregate of a node that has none: the one with the most edges to it among the first kMost
// claimed neighbours. Of equal ones a hash decides, which favours no direction.
struct JoinAggregate {
  static constexpr int kMost = 64;
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* claimed;  // by node; -1: none
  std::int64_t first;           // the number of node 0 in the whole graph
  std::int32_t* aggregate;

  TRIREME_HD void operator()(std::int64_t node) const {
    aggregate[node] = claimed[node];
    if (claimed[node] >= 0) return;
    std::int32_t candidate[kMost], edges[kMost];
    int candidates = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const std::int32_t other = claimed[neighbour[k]];
      if (other < 0) continue;
      int at = 0;
      while (at < candidates && candidate[at] != other) ++at;
      if (at == kMost) break;
      if (at == candidates) candidate[candidates++] = other, edges[at] = 0;
      ++edges[at];
    }
    std::int32_t best = -1, most = 0;
    std::uint64_t best_hash = 0;
    for (int at = 0; at < candidates; ++at) {
      const std::uint64_t hash = mix_bits(static_cast<std::uint64_t>(first + node) << 32 ^
                                          static_cast<std::uint64_t>(candidate[at]));
      if (edges[at] > most || (edges[at] == most && hash < best_hash)) {
        best = candidate[at];
        most = edges[at];
        best_hash = hash;
      }
    }
    aggregate[node] = best;
  }
};

}  // namespace trireme::multigrid
