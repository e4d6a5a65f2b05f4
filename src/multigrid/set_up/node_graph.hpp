// SPDX-License-Identifier: BSD-3-Clause
// The graph of the nodes of a level, with an edge for each strong connection.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::multigrid {

// A graph without loops. Node I has the neighbours neighbour[row_ptr[I]] .. [row_ptr[I+1]-1]. On
// several ranks, a graph has the neighbours of this rank's nodes, and ghost g is node nodes + g.
struct NodeGraph {
  std::int32_t nodes = 0;
  Array<std::int32_t> row_ptr{0};
  Array<std::int32_t> neighbour;
  std::int32_t ghosts = 0;
};

// Sorts the neighbours of each node.
void sort_neighbours(NodeGraph& graph);

// Sorts the neighbours of each node and adds the edges that are stored in one direction only. For a
// graph without ghosts.
void make_symmetric(NodeGraph& graph);

// The graph of the parts of a graph: two parts are neighbours where an edge leads from one to the
// other. part[I] is the part of node I, or -1.
NodeGraph quotient(const NodeGraph& graph, std::span<const std::int32_t> part, std::int32_t parts);

}  // namespace trireme::multigrid
