// SPDX-License-Identifier: BSD-3-Clause
// Renames neighbours in their array, and fetches the weights of ghosts.
#include "partitioning/weighted_graph.hpp"

#include <span>
#include <utility>

#include "base/free_memory.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "parallel/collective.hpp"

namespace trireme::partitioning {

WeightedGraph in_local_numbers(MPI_Comm comm, RowGraph&& graph) {
  WeightedGraph result;
  multigrid::NodeGraph& g = result.graph;
  g.comm = comm;
  collectively(comm, [&] {
    g.starts = std::move(graph.vertex_starts);
    const auto nodes = static_cast<std::int32_t>(graph.vertices());
    g.nodes = nodes;
    g.row_ptr = std::move(graph.offsets);
    g.neighbour = std::move(graph.neighbours);
    g.ghosts = multigrid::others_among(g.neighbour, g.first(), nodes);
    const multigrid::LocalNumbers local(g.first(), nodes, g.ghosts);
    multigrid::HostPlace::for_each(std::ssize(g.neighbour),
                                   [&](std::int64_t k) { g.neighbour[k] = local(g.neighbour[k]); });
    result.edge_weights = std::move(graph.edge_weights);
    result.weights = std::move(graph.weights);
    result.weights.resize(nodes + g.ghosts.size());
  });
  g.halo = plan_halo(comm, g.starts, std::span<const std::int32_t>(g.ghosts));
  g.exchange().fetch(std::span(result.weights));
  return result;
}

void forget_edges(WeightedGraph& graph) {
  let_go(graph.graph.row_ptr);
  let_go(graph.graph.neighbour);
  let_go(graph.edge_weights);
}

}  // namespace trireme::partitioning
