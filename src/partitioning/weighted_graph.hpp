// SPDX-License-Identifier: BSD-3-Clause
// A graph with weights whose vertices lie on the ranks, in local numbers.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/array.hpp"
#include "distributed/row_graph.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::partitioning {

struct WeightedGraph {
  multigrid::NodeGraph graph;        // of this rank's vertices; ghosts belong to other ranks
  Array<std::int32_t> weights;       // of this rank's vertices, and behind them of the ghosts
  Array<std::int32_t> edge_weights;  // by entry of the neighbours' lists, or empty: all are 1

  std::int32_t vertices() const { return graph.nodes; }
  std::int32_t edge_weight(std::int32_t k) const {
    return edge_weights.empty() ? 1 : edge_weights[k];
  }
  std::int32_t global(std::int32_t vertex) const {
    return vertex < vertices() ? static_cast<std::int32_t>(graph.first()) + vertex
                               : graph.ghosts[vertex - vertices()];
  }
};

// The arrays of the graph move into the result. Collective.
WeightedGraph in_local_numbers(MPI_Comm comm, RowGraph&& graph);

// Frees the edges. What is left knows the halo.
void forget_edges(WeightedGraph& graph);

}  // namespace trireme::partitioning
