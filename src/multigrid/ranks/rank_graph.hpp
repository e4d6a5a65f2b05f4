// SPDX-License-Identifier: BSD-3-Clause
// A symmetric graph of nodes that lie on several ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

// This rank's nodes and their neighbours. Nodes are numbered through over the ranks.
struct RankGraph {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::int64_t> starts;  // rank r has the nodes starts[r] .. starts[r+1]-1
  Array<std::int32_t> ghosts;        // the global numbers of the ghosts of `graph`, ascending
  HaloPlan halo;                     // of the ghosts
  NodeGraph graph;

  std::int64_t first() const;
  NodeExchange exchange() const { return {comm, halo, graph.nodes}; }
};

// Adds the edges that are stored in one direction only, on whichever rank. Collective.
void make_symmetric(RankGraph& graph);

// The graph of parts of a graph's nodes, where rank r has the parts part_starts[r] ..
// part_starts[r+1]-1. part[I] is the global number of the part of node or ghost I, or -1.
// Collective.
RankGraph quotient(const RankGraph& graph, std::span<const std::int32_t> part,
                   std::vector<std::int64_t> part_starts);

}  // namespace trireme::multigrid
