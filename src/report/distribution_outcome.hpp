// SPDX-License-Identifier: BSD-3-Clause
// How the rows of a system lie on the ranks, and what it cost to bring them there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/choices.hpp"

namespace trireme {

// Of one distribution of the rows.
struct HaloOutcome {
  std::int64_t ghosts = 0;      // of the rank with the maximum
  std::int64_t all_ghosts = 0;  // of all ranks
  double balance = 1;           // the nonzeros of the rank with the maximum over the mean
  std::optional<double> exchange_us = {};  // one exchange of the halo by MPI; empty: not measured
};

struct DistributionOutcome {
  Distribution distribution = Distribution::rows;
  std::string reason;                  // why this one: a clause without a full stop
  HaloOutcome rows;                    // in the order of the file
  std::optional<HaloOutcome> graph;    // where that is the distribution
  std::int64_t expected_products = 0;  // over which `auto` decided; 0: it did not decide
  std::string partitioner;             // "PT-Scotch"; empty where no graph was partitioned
  bool from_cache = false;             // an earlier run partitioned the graph
  double partition_seconds = 0;        // finding the parts, or reading them from the cache
  double move_seconds = 0;             // bringing matrix and vectors to their ranks
  std::string placement_hash;          // of the new numbers of all rows; empty with rows

  // After so many products, the time of partitioning and moving is saved by shorter exchanges.
  // Empty: the exchange is not shorter.
  std::optional<std::int64_t> paid_after_products() const;
};

}  // namespace trireme
