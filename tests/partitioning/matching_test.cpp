// SPDX-License-Identifier: BSD-3-Clause
// Pairs are mutual, of neighbours, not too heavy, and do not depend on the ranks.
#include "partitioning/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "partitioning/graphs.hpp"

namespace trireme::partitioning {
namespace {

using namespace test;

std::vector<std::int32_t> mates_of(const WholeGraph& whole, std::int64_t max_weight) {
  const WeightedGraph g = on_ranks(whole);
  return global_mates(g, heavy_edge_matching(g, max_weight));
}

TEST(Matching, PairsNeighboursThatAreNotTooHeavy) {
  const WholeGraph whole = random_graph(500, 6, 1);
  constexpr std::int64_t kMaxWeight = 12;
  const std::vector<std::int32_t> mates = mates_of(whole, kMaxWeight);
  ASSERT_EQ(mates.size(), whole.edges.size());
  int paired = 0;
  for (std::int32_t v = 0; v < std::ssize(mates); ++v) {
    const std::int32_t other = mates[v];
    EXPECT_EQ(mates.at(other), v);
    if (other == v) continue;
    ++paired;
    EXPECT_TRUE(whole.edges[v].contains(other));
    EXPECT_LE(whole.weights[v] + whole.weights[other], kMaxWeight);
  }
  EXPECT_GT(paired, 350);
  EXPECT_EQ(mates.back(), std::ssize(mates) - 1);  // it has no neighbours
}

TEST(Matching, DoesNotDependOnTheRanks) {
  const WholeGraph whole = random_graph(500, 6, 2);
  const Array<std::int32_t> alone = heavy_edge_matching(on_ranks(whole, MPI_COMM_SELF), 15);
  EXPECT_EQ(mates_of(whole, 15), std::vector<std::int32_t>(alone.begin(), alone.end()));
}

TEST(Matching, TakesTheHeaviestEdges) {
  WholeGraph path{.edges = decltype(WholeGraph::edges)(30),
                  .weights = std::vector<std::int32_t>(30, 1)};
  // 0 -1- 1 -2- 2 -1- 3 -2- 4 ...: the edges of weight 2 are between 2k-1 and 2k.
  for (std::int32_t v = 1; v < 30; ++v)
    path.edges[v][v - 1] = path.edges[v - 1][v] = v % 2 == 0 ? 2 : 1;
  const std::vector<std::int32_t> mates = mates_of(path, 100);
  for (std::int32_t v = 1; v + 1 < 30; ++v) EXPECT_EQ(mates[v], v % 2 == 0 ? v - 1 : v + 1);
}

TEST(Matching, PairsMostVerticesOfAGrid) {
  const std::vector<std::int32_t> mates = mates_of(grid(60), 100);
  int alone = 0;
  for (std::int32_t v = 0; v < std::ssize(mates); ++v) alone += mates[v] == v ? 1 : 0;
  EXPECT_LE(alone, 3600 / 6);
}

}  // namespace
}  // namespace trireme::partitioning
