// SPDX-License-Identifier: BSD-3-Clause
// Moves of vertices cut fewer edges, keep parts below their limit, and smooth a ragged border.
#include "partitioning/refine_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "partitioning/graphs.hpp"

namespace trireme::partitioning {
namespace {

using namespace test;

std::int64_t edges_cut(const WholeGraph& whole, const std::vector<std::int32_t>& parts) {
  std::int64_t cut = 0;
  for (std::int32_t v = 0; v < std::ssize(parts); ++v)
    for (const auto& [to, weight] : whole.edges[v])
      if (parts[to] != parts[v]) cut += weight;
  return cut / 2;
}

std::int64_t heaviest(const WholeGraph& whole, const std::vector<std::int32_t>& parts, int count) {
  std::vector<std::int64_t> sums(count, 0);
  for (std::size_t v = 0; v < parts.size(); ++v) sums.at(parts[v]) += whole.weights[v];
  return *std::ranges::max_element(sums);
}

// The parts that refine_parts() makes of `parts`, which have a number per vertex of the whole
// graph.
std::vector<std::int32_t> refined(const WholeGraph& whole, const std::vector<std::int32_t>& parts,
                                  int count, std::int64_t max_weight) {
  const WeightedGraph g = on_ranks(whole);
  std::vector<std::int32_t> part;
  for (std::size_t v = 0; v < g.weights.size(); ++v)
    part.push_back(parts[g.global(static_cast<std::int32_t>(v))]);
  refine_parts(g, count, max_weight, part);
  const std::vector<std::int32_t> all =
      gathered(std::span(part).first(static_cast<std::size_t>(g.vertices())));
  for (std::size_t k = g.vertices(); k < part.size(); ++k)  // ghosts know what their owners know
    EXPECT_EQ(part[k], all[g.global(static_cast<std::int32_t>(k))]);
  return all;
}

TEST(RefineParts, CutsFewerEdgesWithinTheLimit) {
  constexpr int kParts = 4;
  for (const std::uint64_t seed : {5, 6, 7}) {
    const WholeGraph whole = random_graph(600, 5, seed);
    std::vector<std::int32_t> parts(600);
    for (std::size_t v = 0; v < parts.size(); ++v)
      parts[v] = static_cast<std::int32_t>(split_mix(v, seed) % kParts);
    const std::int64_t limit = heaviest(whole, parts, kParts) + 20;
    const std::vector<std::int32_t> better = refined(whole, parts, kParts, limit);
    EXPECT_LT(edges_cut(whole, better), edges_cut(whole, parts) * 9 / 10);
    EXPECT_LE(heaviest(whole, better, kParts), limit);
  }
}

// The left half of a grid and its right half, with a tooth of one vertex to either side in turn.
TEST(RefineParts, SmoothesARaggedBorder) {
  constexpr std::int32_t kSide = 40;
  const WholeGraph whole = grid(kSide);
  std::vector<std::int32_t> parts(kSide * kSide);
  for (std::int32_t v = 0; v < kSide * kSide; ++v) {
    const std::int32_t row = v / kSide, column = v % kSide;
    const std::int32_t tooth = row % 4 == 0 ? 1 : row % 4 == 2 ? -1 : 0;
    parts[v] = column < kSide / 2 + tooth ? 0 : 1;
  }
  EXPECT_EQ(edges_cut(whole, parts), 40 + 39);
  const std::vector<std::int32_t> better = refined(whole, parts, 2, kSide * kSide * 51 / 100);
  EXPECT_EQ(edges_cut(whole, better), 40);
}

TEST(RefineParts, LeavesAlonePartsThatAreFull) {
  const WholeGraph whole = random_graph(300, 5, 8);
  std::vector<std::int32_t> parts(300);
  for (std::int32_t v = 0; v < 300; ++v) parts[v] = v % 3;
  EXPECT_EQ(refined(whole, parts, 3, 0), parts);
}

}  // namespace
}  // namespace trireme::partitioning
