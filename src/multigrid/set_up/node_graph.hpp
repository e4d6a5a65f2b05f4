// SPDX-License-Identifier: BSD-3-Clause
// The graph of the nodes of a level, with an edge for each strong connection.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "multigrid/ranks/node_exchange.hpp"

namespace trireme::multigrid {

// A graph without loops, whose nodes are numbered through over the ranks. It has the neighbours of
// this rank's nodes: those of node I are neighbour[row_ptr[I]] .. [row_ptr[I+1]-1]. Ghost g, a node
// of another rank, is node nodes + g.
struct NodeGraph {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::int64_t> starts;  // rank r has the nodes starts[r] .. starts[r+1]-1
  std::int32_t nodes = 0;            // of this rank
  Array<std::int32_t> row_ptr{0};
  Array<std::int32_t> neighbour;
  Array<std::int32_t> ghosts;  // their global numbers, ascending
  HaloPlan halo;               // of the ghosts

  std::int64_t first() const;  // the global number of node 0
  std::int64_t columns() const { return nodes + std::ssize(ghosts); }
  NodeExchange exchange() const { return {comm, halo, nodes}; }
};

// Sorts the neighbours of each node and adds the edges that are stored in one direction only, on
// whichever rank. Collective.
void make_symmetric(NodeGraph& graph);

// The graph of the parts of a graph: two parts are neighbours where an edge leads from one to the
// other. Rank r has the parts part_starts[r] .. part_starts[r+1]-1; part[I] is the global number of
// the part of node or ghost I, or -1. Collective.
NodeGraph quotient(const NodeGraph& graph, std::span<const std::int32_t> part,
                   std::vector<std::int64_t> part_starts);

}  // namespace trireme::multigrid
