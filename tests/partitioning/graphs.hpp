// SPDX-License-Identifier: BSD-3-Clause
// Graphs with weights for tests, on the ranks and whole on each rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "parallel/collective.hpp"
#include "partitioning/weighted_graph.hpp"

namespace trireme::test {

// The neighbours of each vertex with the weights of the edges, and the weights of the vertices.
struct WholeGraph {
  std::vector<std::map<std::int32_t, std::int32_t>> edges;
  std::vector<std::int32_t> weights;
};

// `vertices` with about `degree` random edges each, whose weights and those of the vertices are
// random from 1 to 9. The last vertex has no neighbours; vertex 0 has edges to a third of all.
inline WholeGraph random_graph(std::int32_t vertices, std::int32_t degree, std::uint64_t seed) {
  WholeGraph whole{.edges = decltype(WholeGraph::edges)(vertices), .weights = {}};
  std::uint64_t counter = 0;
  const auto below = [&](std::int32_t end) {
    return static_cast<std::int32_t>(split_mix(counter++, seed) % static_cast<std::uint64_t>(end));
  };
  const auto join = [&](std::int32_t one, std::int32_t other) {
    if (one == other) return;
    whole.edges[one][other] = whole.edges[other][one] = 1 + below(9);
  };
  for (std::int32_t v = 0; v < vertices; ++v) whole.weights.push_back(1 + below(9));
  for (std::int32_t k = 0; k < vertices * degree / 2; ++k)
    join(below(vertices - 1), below(vertices - 1));
  for (std::int32_t v = 1; v < vertices - 1; v += 3) join(0, v);
  return whole;
}

// A grid of `side` x `side` vertices with edges of weight 1 to right and left, up and down.
inline WholeGraph grid(std::int32_t side) {
  WholeGraph whole{.edges = decltype(WholeGraph::edges)(side * side),
                   .weights = std::vector<std::int32_t>(side * side, 1)};
  for (std::int32_t v = 0; v < side * side; ++v) {
    if (v % side != 0) whole.edges[v][v - 1] = whole.edges[v - 1][v] = 1;
    if (v >= side) whole.edges[v][v - side] = whole.edges[v - side][v] = 1;
  }
  return whole;
}

// The part of this rank. Where there are three ranks or more, the second one has no vertex.
// Collective.
inline partitioning::WeightedGraph on_ranks(const WholeGraph& whole,
                                            MPI_Comm comm = MPI_COMM_WORLD) {
  const int ranks = size_of(comm), rank = rank_of(comm);
  const auto vertices = static_cast<std::int64_t>(whole.edges.size());
  RowGraph graph;
  for (int r = 0; r <= ranks; ++r) graph.vertex_starts.push_back(vertices * r / ranks);
  if (ranks > 2) graph.vertex_starts[2] = graph.vertex_starts[1];
  graph.has_edge_weights = true;
  graph.offsets.push_back(0);
  for (std::int64_t v = graph.vertex_starts[rank]; v < graph.vertex_starts[rank + 1]; ++v) {
    graph.weights.push_back(whole.weights[v]);
    for (const auto& [to, weight] : whole.edges[v]) {
      graph.neighbours.push_back(to);
      graph.edge_weights.push_back(weight);
    }
    graph.offsets.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
  }
  return partitioning::in_local_numbers(comm, std::move(graph));
}

// The numbers of all ranks' vertices, on every rank. Collective.
template <class Numbers>
std::vector<std::int32_t> gathered(const Numbers& mine) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts(ranks), at(ranks, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 1; r < ranks; ++r) at[r] = at[r - 1] + counts[r - 1];
  std::vector<std::int32_t> all(at.back() + counts.back());
  MPI_Allgatherv(mine.data(), count, MPI_INT32_T, all.data(), counts.data(), at.data(), MPI_INT32_T,
                 MPI_COMM_WORLD);
  return all;
}

// The global number of each vertex's partner, of all vertices. Collective.
inline std::vector<std::int32_t> global_mates(const partitioning::WeightedGraph& g,
                                              const Array<std::int32_t>& mate) {
  std::vector<std::int32_t> numbers;
  for (const std::int32_t other : mate) numbers.push_back(g.global(other));
  return gathered(numbers);
}

}  // namespace trireme::test
