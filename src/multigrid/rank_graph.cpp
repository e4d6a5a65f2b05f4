// SPDX-License-Identifier: BSD-3-Clause
// Edges between nodes of different ranks, which travel to the ranks of their nodes.
#include "multigrid/rank_graph.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/split_mix.hpp"
#include "multigrid/local_numbers.hpp"
#include "multigrid/send_to_ranks.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// From a node of one rank to a node of any rank, by global numbers.
struct Edge {
  std::int32_t from, to;
  bool operator==(const Edge&) const = default;
  bool operator<(const Edge& other) const {
    return std::tie(from, to) < std::tie(other.from, other.to);
  }
};

void keep_each_once(Array<Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// Calls visit(edge) for each edge of this rank's nodes.
template <class Visit>
void for_edges(const RankGraph& g, const Visit& visit) {
  const auto first = static_cast<std::int32_t>(g.first());
  for (std::int32_t node = 0; node < g.graph.nodes; ++node)
    for (std::int32_t k = g.graph.row_ptr[node]; k < g.graph.row_ptr[node + 1]; ++k) {
      const std::int32_t other = g.graph.neighbour[k];
      visit(Edge{first + node,
                 other < g.graph.nodes ? first + other : g.ghosts[other - g.graph.nodes]});
    }
}

// Whether each edge has one back. An edge and the one back have the same hash, of which one is added
// and the other subtracted, so that sums of edges without a partner are 0 with a probability of 2^-64.
bool is_symmetric(const RankGraph& g) {
  std::uint64_t sum = 0;
  for_edges(g, [&](Edge edge) {
    const auto [low, high] = std::minmax(edge.from, edge.to);
    const std::uint64_t hash =
        mix_bits(static_cast<std::uint64_t>(low) << 32 ^ static_cast<std::uint64_t>(high));
    sum += edge.from == low ? hash : -hash;
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, g.comm);
  return sum == 0;
}

// Sends the edges to the ranks that own the node `from`.
Array<Edge> sent_to_owners(MPI_Comm comm, std::span<const std::int64_t> starts,
                           const Array<Edge>& edges) {
  std::vector<int> owners;
  for (const Edge& edge : edges) owners.push_back(owner_of(starts, edge.from));
  return send_to_ranks<Edge>(comm, edges, 1, owners).values;
}

// `edges` are those of this rank's nodes.
RankGraph graph_of(MPI_Comm comm, std::vector<std::int64_t> starts, Array<Edge> edges) {
  RankGraph g{.comm = comm, .starts = std::move(starts), .ghosts{}, .halo{}, .graph{}};
  const std::int64_t first = g.first(), nodes = g.starts[rank_of(comm) + 1] - first;
  keep_each_once(edges);
  Array<std::int32_t> ends;
  for (const Edge& edge : edges) ends.push_back(edge.to);
  g.ghosts = others_among(ends, first, nodes);
  g.halo = plan_halo(comm, g.starts, g.ghosts);
  g.graph.nodes = static_cast<std::int32_t>(nodes);
  g.graph.ghosts = static_cast<std::int32_t>(g.ghosts.size());
  g.graph.row_ptr.assign(nodes + 1, 0);
  const LocalNumbers local(first, nodes, g.ghosts);
  for (const Edge& edge : edges) {
    ++g.graph.row_ptr[edge.from - first + 1];
    g.graph.neighbour.push_back(local(edge.to));
  }
  for (std::int64_t node = 0; node < nodes; ++node)
    g.graph.row_ptr[node + 1] += g.graph.row_ptr[node];
  return g;
}

}  // namespace

std::int64_t RankGraph::first() const { return starts[rank_of(comm)]; }

void make_symmetric(RankGraph& graph) {
  if (is_symmetric(graph)) return;
  Array<Edge> edges, back;
  for_edges(graph, [&](Edge edge) {
    edges.push_back(edge);
    back.push_back({edge.to, edge.from});
  });
  const Array<Edge> received = sent_to_owners(graph.comm, graph.starts, back);
  edges.insert(edges.end(), received.begin(), received.end());
  graph = graph_of(graph.comm, std::move(graph.starts), std::move(edges));
}

RankGraph quotient(const RankGraph& graph, std::span<const std::int32_t> part,
                   std::vector<std::int64_t> part_starts) {
  Array<Edge> edges;
  for (std::int32_t node = 0; node < graph.graph.nodes; ++node)
    for (std::int32_t k = graph.graph.row_ptr[node]; k < graph.graph.row_ptr[node + 1]; ++k) {
      const Edge edge{part[node], part[graph.graph.neighbour[k]]};
      if (edge.from >= 0 && edge.to >= 0 && edge.from != edge.to) edges.push_back(edge);
    }
  keep_each_once(edges);
  Array<Edge> own = sent_to_owners(graph.comm, part_starts, edges);
  return graph_of(graph.comm, std::move(part_starts), std::move(own));
}

}  // namespace trireme::multigrid
