// SPDX-License-Identifier: BSD-3-Clause
// Symmetric graphs and graphs of parts, by the functors of node_graph_functors.hpp.
#include "multigrid/cuda/node_graph.cuh"

#include <utility>

#include "base/split_mix.hpp"
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

// Adds up hashes of the edges that cross the border, which are 0 where each has one back
// (node_graph.cpp). Sums of 32 bits are exact in FP64.
struct HashOfCrossings {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t nodes;
  const std::int32_t* ghosts;
  std::uint64_t first, key;
  int shift;  // 0 or 32: the half of the hashes that is added up

  __device__ std::int64_t operator()(std::int64_t node) const {
    std::int64_t sum = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      if (neighbour[k] < nodes) continue;
      const std::uint64_t own = first + static_cast<std::uint64_t>(node);
      const auto other = static_cast<std::uint64_t>(ghosts[neighbour[k] - nodes]);
      const bool ascends = own < other;
      const std::uint64_t hash = mix_bits((ascends ? own << 32 ^ other : other << 32 ^ own) + key);
      const auto half = static_cast<std::int64_t>(hash >> shift & 0xffffffffu);
      sum += ascends ? half : -half;
    }
    return sum;
  }
};

bool is_symmetric_on_ranks(DeviceGraph& graph, std::span<const std::int32_t> ghosts,
                           std::int64_t first_node, std::uint64_t key, const DeviceGhosts& exchange,
                           StreamRef stream) {
  const CudaPlace place(stream);
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  std::int32_t* const neighbour = graph.neighbour.data();
  place.for_each(graph.nodes, SortNeighbours{row_ptr, neighbour});
  const bool here = place.count(graph.nodes, EdgesUp{row_ptr, neighbour, graph.nodes}) == 0 &&
                    place.count(graph.nodes, MissingEdges{row_ptr, neighbour, graph.nodes}) == 0;
  const auto others = to_device(ghosts, stream);
  const auto sum = [&](int shift) {
    return exchange.sum(static_cast<double>(place.count(
        graph.nodes, HashOfCrossings{row_ptr, neighbour, graph.nodes, others.data(),
                                     static_cast<std::uint64_t>(first_node), key, shift})));
  };
  const double low = sum(0), high = sum(32);
  return exchange.max(here ? 0 : 1) == 0 && low == 0 && high == 0;
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
