// SPDX-License-Identifier: BSD-3-Clause
// Symmetric graphs and graphs of parts, by the functors of node_graph_functors.hpp.
#include "multigrid/cuda/node_graph.cuh"

#include <utility>

#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/members.cuh"
#include "multigrid/set_up/node_graph_functors.hpp"

namespace trireme::multigrid {
namespace {

template <class Gather>
DeviceGraph graph_of_sets(std::int32_t nodes, const Gather& gather, const CudaPlace& place) {
  DeviceRows rows = DeviceRowMaker(place).make_pattern<1>(nodes, nodes, gather);
  return {nodes, std::move(rows.row_ptr), std::move(rows.col_idx)};
}

}  // namespace

void make_symmetric(DeviceGraph& graph, const CudaPlace& place) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  place.for_each(graph.nodes, SortNeighbours{row_ptr, graph.neighbour.data()});
  const bool is_symmetric =
      place.count(graph.nodes, EdgesUp{row_ptr, graph.neighbour.data()}) == 0 &&
      place.count(graph.nodes, MissingEdges{row_ptr, graph.neighbour.data()}) == 0;
  if (is_symmetric) return;
  const DeviceRows back =
      transposed_pattern(graph.nodes, graph.row_ptr.view(), graph.neighbour.view(), place.stream());
  graph = graph_of_sets(graph.nodes,
                        GatherBoth{graph.row_ptr.data(), graph.neighbour.data(),
                                   back.row_ptr.data(), back.col_idx.data()},
                        place);
}

DeviceGraph quotient(const DeviceGraph& graph, DeviceSpan<const std::int32_t> part,
                     std::int32_t parts, const CudaPlace& place) {
  const DeviceMembers members = members_of(part, parts, place);
  return graph_of_sets(parts,
                       GatherParts{graph.row_ptr.data(), graph.neighbour.data(), part.data(),
                                   members.first.data(), members.member.data()},
                       place);
}

}  // namespace trireme::multigrid
