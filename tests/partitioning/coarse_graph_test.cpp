// SPDX-License-Identifier: BSD-3-Clause
// The graph of pairs against sums over the whole graph on each rank.
#include "partitioning/coarse_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "partitioning/graphs.hpp"
#include "partitioning/matching.hpp"

namespace trireme::partitioning {
namespace {

using namespace test;

// The lower vertex of each pair stands for it.
std::int32_t lower_of(const std::vector<std::int32_t>& mates, std::int32_t v) {
  return std::min(v, mates[v]);
}

TEST(CoarseGraph, HasTheSumsOfItsPairs) {
  const WholeGraph whole = random_graph(400, 6, 3);
  const WeightedGraph g = on_ranks(whole);
  const Array<std::int32_t> mate = heavy_edge_matching(g, 14);
  const std::vector<std::int32_t> mates = global_mates(g, mate);
  const RowGraph coarse = coarse_graph(g, mate);
  ASSERT_TRUE(coarse.has_edge_weights);

  // The number of the pair of each vertex: parts that are numbers of pairs come back to the
  // vertices.
  std::vector<std::int32_t> own(coarse.vertices());
  for (std::size_t c = 0; c < own.size(); ++c)
    own[c] = static_cast<std::int32_t>(coarse.vertex_starts[rank_of(MPI_COMM_WORLD)] + c);
  Array<std::int32_t> pair = parts_of_vertices(g, mate, own);
  ASSERT_EQ(pair.size(), g.weights.size());
  const std::vector<std::int32_t> pairs =
      gathered(std::span(pair).first(static_cast<std::size_t>(g.vertices())));
  for (std::size_t k = g.vertices(); k < pair.size(); ++k)
    EXPECT_EQ(pair[k], pairs[g.global(static_cast<std::int32_t>(k))]);

  std::vector<std::map<std::int32_t, std::int32_t>> edges(coarse.vertex_starts.back());
  std::vector<std::int32_t> weights(edges.size(), 0);
  for (std::int32_t v = 0; v < std::ssize(pairs); ++v) {
    EXPECT_EQ(pairs[v], pairs[mates[v]]);
    EXPECT_EQ(pairs[v] == pairs[0], lower_of(mates, v) == lower_of(mates, 0));
    weights.at(pairs[v]) += whole.weights[v];
    for (const auto& [to, weight] : whole.edges[v])
      if (pairs[to] != pairs[v]) edges[pairs[v]][pairs[to]] += weight;
  }
  const std::int64_t first = coarse.vertex_starts[rank_of(MPI_COMM_WORLD)];
  for (std::int64_t c = 0; c < coarse.vertices(); ++c) {
    EXPECT_EQ(coarse.weights[c], weights[first + c]);
    std::map<std::int32_t, std::int32_t> found;
    for (std::int32_t k = coarse.offsets[c]; k < coarse.offsets[c + 1]; ++k) {
      EXPECT_TRUE(k == coarse.offsets[c] || coarse.neighbours[k - 1] < coarse.neighbours[k]);
      found[coarse.neighbours[k]] = coarse.edge_weights[k];
    }
    EXPECT_EQ(found, edges[first + c]);
  }
}

// Else one rank would get most of a graph whose vertices are numbered at random.
TEST(CoarseGraph, LiesEvenlyOnTheRanks) {
  const WeightedGraph g = on_ranks(random_graph(6000, 6, 4));
  const RowGraph coarse = coarse_graph(g, heavy_edge_matching(g, 1000));
  if (g.vertices() == 0) return;
  EXPECT_NEAR(static_cast<double>(coarse.vertices()) / g.vertices(), 0.55, 0.1);
}

}  // namespace
}  // namespace trireme::partitioning
