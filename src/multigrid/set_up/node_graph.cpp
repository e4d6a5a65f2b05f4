// SPDX-License-Identifier: BSD-3-Clause
// Symmetric graphs of nodes, and graphs of their parts.
#include "multigrid/set_up/node_graph.hpp"

#include "multigrid/set_up/graph_of_sets.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/node_graph_functors.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
void sort_neighbours(NodeGraph& graph) {
  HostPlace::for_each(graph.nodes, SortNeighbours{graph.row_ptr.data(), graph.neighbour.data()});
}

void make_symmetric(NodeGraph& graph) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  sort_neighbours(graph);
  // Where each edge to a larger node has an edge back, and there are as many edges to smaller nodes
  // as to larger ones, none is missing.
  const bool is_symmetric =
      HostPlace::sum(graph.nodes, EdgesUp{row_ptr, graph.neighbour.data()}) == 0 &&
      HostPlace::sum(graph.nodes, MissingEdges{row_ptr, graph.neighbour.data()}) == 0;
  if (is_symmetric) return;
  const TransposedPattern back = transposed_pattern(graph.nodes, graph.row_ptr, graph.neighbour);
  graph = graph_of_sets(graph.nodes, graph.nodes,
                        GatherBoth{graph.row_ptr.data(), graph.neighbour.data(),
                                   back.row_ptr.data(), back.col_idx.data()});
}

NodeGraph quotient(const NodeGraph& graph, std::span<const std::int32_t> part, std::int32_t parts) {
  const Members members(part, parts);
  return graph_of_sets(parts, parts,
                       GatherParts{graph.row_ptr.data(), graph.neighbour.data(), part.data(),
                                   members.first.data(), members.member.data()});
}

}  // namespace trireme::multigrid
