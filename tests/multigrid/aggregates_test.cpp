// SPDX-License-Identifier: BSD-3-Clause
// Aggregates are connected, cover all nodes but isolated ones, and have distant roots.
#include "multigrid/set_up/aggregates.hpp"

#include <gtest/gtest.h>

#include <set>

#include "multigrid/dense.hpp"
#include "multigrid/set_up/strength.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

NodeGraph graph_of(const CsrMatrix<double>& a, double threshold = 0) {
  return find_strength(test::without_ghosts(a), 1, threshold).graph;
}

std::span<const std::int32_t> neighbours(const NodeGraph& graph, std::int32_t node) {
  return std::span(graph.neighbour)
      .subspan(graph.row_ptr[node], graph.row_ptr[node + 1] - graph.row_ptr[node]);
}

// How many nodes of its aggregate can be reached from each root.
bool all_connected(const NodeGraph& graph, const Aggregates& aggregates) {
  std::vector<std::int32_t> size(aggregates.count(), 0);
  for (const std::int32_t number : aggregates.of_node)
    if (number >= 0) ++size[number];
  for (std::int32_t number = 0; number < aggregates.count(); ++number) {
    std::vector<std::int32_t> reached{aggregates.roots[number]};
    std::set<std::int32_t> seen(reached.begin(), reached.end());
    while (!reached.empty()) {
      const std::int32_t node = reached.back();
      reached.pop_back();
      for (const std::int32_t other : neighbours(graph, node))
        if (aggregates.of_node[other] == number && seen.insert(other).second)
          reached.push_back(other);
    }
    if (static_cast<std::int32_t>(seen.size()) != size[number]) return false;
  }
  return true;
}

// The number of roots within two edges of a node, itself included.
int roots_near(const NodeGraph& graph, const std::vector<bool>& is_root, std::int32_t node) {
  std::set<std::int32_t> near{node};
  for (const std::int32_t other : neighbours(graph, node)) {
    near.insert(other);
    for (const std::int32_t far : neighbours(graph, other)) near.insert(far);
  }
  int count = 0;
  for (const std::int32_t one : near) count += is_root[one];
  return count;
}

std::vector<CsrMatrix<double>> matrices() {
  std::vector<CsrMatrix<double>> all;
  for (const auto& [kind, n] :
       {std::pair{"poisson2d", 30}, std::pair{"poisson3d", 12}, std::pair{"poisson27", 9},
        std::pair{"mesh2d", 25}, std::pair{"convection3d", 9}, std::pair{"graph", 500},
        std::pair{"lognormal", 700}, std::pair{"arrow", 300}})
    all.push_back(test::generated(kind, n));
  return all;
}

TEST(Aggregates, CoverEveryNodeWithNeighboursAndAreConnected) {
  for (const auto& a : matrices()) {
    const NodeGraph graph = graph_of(a);
    const Aggregates aggregates = aggregate(graph);
    for (std::int32_t node = 0; node < graph.nodes; ++node)
      EXPECT_EQ(aggregates.of_node[node] >= 0, !neighbours(graph, node).empty()) << node;
    EXPECT_TRUE(all_connected(graph, aggregates));
  }
}

TEST(Aggregates, HaveRootsMoreThanTwoEdgesApartAndNoRoomForAnother) {
  for (const auto& a : matrices()) {
    const NodeGraph graph = graph_of(a);
    const Aggregates aggregates = aggregate(graph);
    std::vector<bool> is_root(graph.nodes, false);
    for (const std::int32_t root : aggregates.roots) is_root[root] = true;
    for (std::int32_t node = 0; node < graph.nodes; ++node) {
      if (neighbours(graph, node).empty()) continue;
      const int near = roots_near(graph, is_root, node);
      if (is_root[node])
        EXPECT_EQ(near, 1) << node;
      else
        EXPECT_GE(near, 1) << node;
    }
  }
}

TEST(Aggregates, OfAggregatesAreFewerAndConnected) {
  const NodeGraph graph = graph_of(test::generated("poisson3d", 16));
  const Aggregates once = aggregate(graph), twice = aggregate_twice(graph);
  EXPECT_LT(twice.count() * 4, once.count());
  EXPECT_GT(twice.count(), 0);
  EXPECT_TRUE(all_connected(graph, twice));
  for (const std::int32_t number : twice.of_node) EXPECT_GE(number, 0);
}

TEST(Aggregates, AreTheSameForAnyNumberOfThreads) {
  const NodeGraph graph = graph_of(test::generated("poisson3d", 20));
  const trireme::test::WithThreads one(1);
  const Aggregates a = aggregate(graph);
  const trireme::test::WithThreads three(3);
  const Aggregates b = aggregate(graph);
  EXPECT_EQ(a.of_node, b.of_node);
  EXPECT_EQ(a.roots, b.roots);
}

TEST(Aggregates, LeaveOutIsolatedNodesUnlessTheyAreToBeKept) {
  const auto a = test::matrix_of(
      4, 4, {{0, 0, 2.0}, {1, 1, 2.0}, {1, 3, -1.0}, {2, 2, 2.0}, {3, 1, -1.0}, {3, 3, 2.0}});
  const NodeGraph graph = graph_of(a);
  const Aggregates alone = aggregate(graph);
  EXPECT_EQ(alone.of_node, (Array<std::int32_t>{-1, 0, -1, 0}));
  const Aggregates kept = aggregate(graph, true);
  EXPECT_EQ(kept.count(), 3);
  for (const std::int32_t number : kept.of_node) EXPECT_GE(number, 0);
}

TEST(Strength, IsRelativeToTheLargestEntryOfEitherRow) {
  // Row 0 has s = 0.5 and 0.1; row 2 has no other entry than that of row 0.
  const auto a = test::matrix_of(3, 3,
                                 {{0, 0, 1.0},
                                  {0, 1, -0.5},
                                  {0, 2, -0.1},
                                  {1, 0, -0.5},
                                  {1, 1, 1.0},
                                  {2, 0, -0.1},
                                  {2, 2, 1.0}});
  const Strength all = find_strength(test::without_ghosts(a), 1, 0.9);
  EXPECT_TRUE(all.strong.empty());
  auto b = test::matrix_of(3, 3,
                           {{0, 0, 1.0},
                            {0, 1, -0.5},
                            {0, 2, -0.1},
                            {1, 0, -0.5},
                            {1, 1, 1.0},
                            {1, 2, 0.3},
                            {2, 0, -0.1},
                            {2, 1, 0.3},
                            {2, 2, 1.0}});
  const Strength some = find_strength(test::without_ghosts(b), 1, 0.5);
  EXPECT_EQ(some.strong, (Array<std::uint8_t>{1, 1, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(some.graph.neighbour, (Array<std::int32_t>{1, 0, 2, 1}));
}

TEST(Strength, IgnoresTheScalesOfRowsAndColumns) {
  auto a = test::generated("poisson2d", 20);
  const NodeGraph plain = graph_of(a, 0.25);
  const double scales[] = {1e-140, 1.0, 1e120, 1e-30, 1e30};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      a.values[k] *= scales[i % 5] * scales[a.col_idx[k] % 5];
  const Strength scaled = find_strength(test::without_ghosts(a), 1, 0.25);
  EXPECT_EQ(plain.neighbour, scaled.graph.neighbour);
  EXPECT_TRUE(scaled.strong.empty());
}

TEST(Strength, OfBlocksIsThatOfTheirFrobeniusNorms) {
  // Nodes of 2 rows. Block (0, 1) has the norm 0.5, block (0, 2) the norm 0.05.
  const auto a = test::matrix_of(6, 6,
                                 {{0, 0, 1.0},
                                  {0, 2, 0.3},
                                  {0, 3, 0.4},
                                  {0, 4, 0.05},
                                  {1, 1, 1.0},
                                  {2, 0, 0.3},
                                  {2, 2, 1.0},
                                  {3, 0, 0.4},
                                  {3, 3, 1.0},
                                  {3, 5, 0.5},
                                  {4, 0, 0.05},
                                  {4, 4, 1.0},
                                  {5, 3, 0.5},
                                  {5, 5, 1.0}});
  const Strength strength = find_strength(test::without_ghosts(a), 2, 0.25);
  EXPECT_EQ(strength.graph.nodes, 3);
  EXPECT_EQ(strength.graph.row_ptr, (Array<std::int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(strength.graph.neighbour, (Array<std::int32_t>{1, 0, 2, 1}));
  EXPECT_EQ(strength.strong, (Array<std::uint8_t>{1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1}));
}

TEST(Strength, MakesAnEdgeOfAnEntryInOneDirection) {
  const auto a =
      test::matrix_of(3, 3, {{0, 0, 2.0}, {0, 2, -1.0}, {1, 0, -1.0}, {1, 1, 2.0}, {2, 2, 2.0}});
  const NodeGraph graph = graph_of(a);
  EXPECT_EQ(graph.row_ptr, (Array<std::int32_t>{0, 2, 3, 4}));
  EXPECT_EQ(graph.neighbour, (Array<std::int32_t>{1, 2, 0, 0}));
}

}  // namespace
}  // namespace trireme::multigrid
