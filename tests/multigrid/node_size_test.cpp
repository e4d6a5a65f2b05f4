// SPDX-License-Identifier: BSD-3-Clause
// How many rows make a node, on matrices that are known. Run on 1 and 2 ranks.
#include "multigrid/set_up/node_size.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "multigrid/on_ranks.hpp"
#include "support/distributed_matrices.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;

std::int32_t size_in(std::int64_t rows,
                     const std::function<double(std::int64_t, std::int64_t)>& entry) {
  return find_node_size(*trireme::test::distributed(MPI_COMM_WORLD, rows, entry));
}

TEST(NodeSize, OfElasticBodiesIsTheirDimension) {
  // Half of the nodes of an even number lie on each of two ranks.
  EXPECT_EQ(find_node_size(*generated(MPI_COMM_WORLD, "elasticity3d", 6)), 3);
}

// The first rank has all rows, and the others none.
TEST(NodeSize, IsFoundWhereRanksHaveNoRows) {
  const GenerateSpec spec{.kind = "elasticity3d", .n = 5};
  const std::int64_t rows = generator_shape(spec).rows;
  std::vector<std::int64_t> starts(size_of(MPI_COMM_WORLD) + 1, rows);
  starts[0] = 0;
  const int rank = rank_of(MPI_COMM_WORLD);
  RowSlab slab = generate(spec, starts[rank], starts[rank + 1]);
  slab.global_nnz = sum_over_ranks(MPI_COMM_WORLD, slab.local.nnz());
  EXPECT_EQ(find_node_size(*distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts))), 3);
}

TEST(NodeSize, OfScalarProblemsIsOne) {
  for (const char* kind : {"poisson2d", "poisson3d", "poisson27", "diffusion3d", "convection3d"})
    EXPECT_EQ(find_node_size(*generated(MPI_COMM_WORLD, kind, 12)), 1) << kind;
}

// Blocks of b rows on a line of nodes with neighbours at the distances 1 and 7.
double coupled(std::int64_t i, std::int64_t j, std::int64_t b, bool fields) {
  const std::int64_t distance = std::abs(i / b - j / b);
  if (distance != 0 && distance != 1 && distance != 7) return 0;
  return fields && i % b != j % b ? 0 : i == j ? 9 : -0.5;
}

TEST(NodeSize, OfFullBlocksIsTheLargestThatIsFull) {
  for (const std::int64_t b : {2, 4, 5, 6})
    EXPECT_EQ(size_in(b * 40, [&](auto i, auto j) { return coupled(i, j, b, false); }), b);
}

TEST(NodeSize, OfFieldsThatDoNotSeeEachOtherIsTheirNumber) {
  for (const std::int64_t b : {2, 3})
    EXPECT_EQ(size_in(b * 40, [&](auto i, auto j) { return coupled(i, j, b, true); }), b);
}

TEST(NodeSize, IsOneWhereRowsAreLeftOut) {
  // Three rows in the middle are missing, so that two fifths of the groups of three are no nodes.
  const auto whole = [](std::int64_t i) { return i + (i >= 50) + (i >= 99) + (i >= 148); };
  EXPECT_EQ(size_in(240, [&](auto i, auto j) { return coupled(whole(i), whole(j), 3, false); }), 1);
}

TEST(NodeSize, IsOneWithoutAMesh) {
  EXPECT_EQ(size_in(48, [](auto i, auto j) { return i == j ? 2.0 : 0.0; }), 1) << "diagonal";
  EXPECT_EQ(size_in(48, [](auto i, auto j) { return i / 3 == j / 3 ? 1.0 : 0.0; }), 1)
      << "blocks alone";
  EXPECT_EQ(size_in(48, [](auto i, auto j) { return i == j ? 50.0 : 1.0; }), 1) << "dense";
  EXPECT_EQ(size_in(0, [](auto, auto) { return 1.0; }), 1) << "empty";
  EXPECT_EQ(size_in(1, [](auto, auto) { return 1.0; }), 1);
}

// Entries at the distances of powers of two: blocks of two rows have the same neighbours, and are
// not full.
TEST(NodeSize, IsOneForNeighboursAtPowersOfTwo) {
  EXPECT_EQ(size_in(512,
                    [](std::int64_t i, std::int64_t j) {
                      const std::int64_t d = std::abs(i - j);
                      return d == 0 ? 30.0 : (d & (d - 1)) == 0 ? 1.0 : 0.0;
                    }),
            1);
}

}  // namespace
}  // namespace trireme::multigrid
