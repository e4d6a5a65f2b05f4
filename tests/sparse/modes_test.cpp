// SPDX-License-Identifier: BSD-3-Clause
// Rigid-body modes move nodes without a strain, and orthonormal columns span what was given.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sparse/generators.hpp"
#include "sparse/orthonormal_columns.hpp"
#include "sparse/rigid_body_modes.hpp"

namespace trireme {
namespace {

const SumOverRanks kOneRank = [](std::span<double>) {};

Modes modes_of(const std::vector<Array<double>>& coordinates) {
  std::vector<double> low, high;
  for (const Array<double>& axis : coordinates) {
    low.push_back(*std::ranges::min_element(axis));
    high.push_back(*std::ranges::max_element(axis));
  }
  return rigid_body_modes(coordinates, centred(low, high));
}

// The largest difference between the columns' inner products and those of orthonormal columns.
double distance_from_orthonormal(const Modes& modes) {
  double largest = 0;
  for (std::int32_t j = 0; j < modes.width; ++j)
    for (std::int32_t k = 0; k < modes.width; ++k) {
      double product = j == k ? -1 : 0;
      for (std::size_t at = 0; at < modes.values.size(); at += modes.width)
        product += modes.values[at + j] * modes.values[at + k];
      largest = std::max(largest, std::abs(product));
    }
  return largest;
}

// Nodes at irregular places, which fill a box.
std::vector<Array<double>> scattered(std::size_t dimension, std::size_t nodes) {
  std::vector<Array<double>> coordinates(dimension, Array<double>(nodes));
  for (std::size_t axis = 0; axis < dimension; ++axis)
    for (std::size_t node = 0; node < nodes; ++node)
      coordinates[axis][node] =
          std::fmod(0.6180339887 * static_cast<double>(axis + 1) * static_cast<double>(node + 1),
                    1.0) *
          static_cast<double>(axis + 1);
  return coordinates;
}

// The free faces of the block carry no force in a rigid motion. At the clamped nodes below the
// first plane, the motion is cut off.
TEST(RigidBodyModes, AreAnnihilatedByElasticityAwayFromTheClampedFace) {
  for (const char* kind : {"elasticity3d", "elasticity3d-shuffled"}) {
    const GenerateSpec spec{.kind = kind, .n = 18};  // 5832 nodes: two windows of shuffled ones
    const std::int64_t rows = generator_shape(spec).rows;
    const CsrMatrix<double> a = generate(spec, 0, rows).local;
    const std::vector<Array<double>> at = generator_coordinates(spec, 0, rows / 3);
    Modes modes = modes_of(at);
    EXPECT_TRUE(orthonormalise(modes, kOneRank).empty());
    ASSERT_EQ(modes.width, 6);
    ASSERT_EQ(modes.block_size, 3);
    double inside = 0, beside_the_clamps = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int32_t k = 0; k < 6; ++k) {
        double product = 0;
        for (std::int32_t e = a.row_ptr[row]; e < a.row_ptr[row + 1]; ++e)
          product += a.values[e] * modes.values[a.col_idx[e] * std::int64_t{6} + k];
        double& largest = at[2][row / 3] > 1 ? inside : beside_the_clamps;
        largest = std::max(largest, std::abs(product));
      }
    EXPECT_LT(inside, 1e-14) << kind;
    EXPECT_GT(beside_the_clamps, 1e-4) << kind;
  }
}

TEST(RigidBodyModes, ChangeNoDistanceBetweenNodes) {
  for (const std::size_t dimension : {2, 3}) {
    const std::vector<Array<double>> at = scattered(dimension, 40);
    Modes modes = modes_of(at);
    EXPECT_EQ(modes.width, dimension == 2 ? 3 : 6);
    for (std::size_t p = 0; p < 40; ++p)
      for (std::size_t q = 0; q < p; ++q)
        for (std::int32_t k = 0; k < modes.width; ++k) {
          double growth = 0;
          for (std::size_t axis = 0; axis < dimension; ++axis)
            growth += (modes.values[(p * dimension + axis) * modes.width + k] -
                       modes.values[(q * dimension + axis) * modes.width + k]) *
                      (at[axis][p] - at[axis][q]);
          ASSERT_NEAR(growth, 0, 1e-13) << p << " " << q << " mode " << k;
        }
    EXPECT_TRUE(orthonormalise(modes, kOneRank).empty()) << "they are independent";
  }
}

TEST(RigidBodyModes, AreOrthonormalFarFromTheOriginAndInAnyUnit) {
  std::vector<Array<double>> at = scattered(3, 500);
  for (Array<double>& axis : at)
    for (double& x : axis) x = 1e6 + 1e-3 * x;
  Modes modes = modes_of(at);
  EXPECT_TRUE(orthonormalise(modes, kOneRank).empty());
  EXPECT_LT(distance_from_orthonormal(modes), 1e-14);
}

TEST(RigidBodyModes, LeaveOutWhatNodesOnALineCannotDo) {
  std::vector<Array<double>> at = scattered(3, 50);
  at[1] = at[0];
  std::ranges::fill(at[2], 7.0);
  Modes line = modes_of(at);
  EXPECT_EQ(orthonormalise(line, kOneRank).size(), 1u);
  EXPECT_EQ(line.width, 5);
  EXPECT_LT(distance_from_orthonormal(line), 1e-14);

  Modes point = modes_of({{1.0}, {2.0}, {3.0}});
  EXPECT_EQ(orthonormalise(point, kOneRank), (std::vector<std::int32_t>{3, 4, 5}));
  EXPECT_EQ(point.values, (Array<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(OrthonormalColumns, SpanTheGivenOnesAndLeaveOutCombinations) {
  constexpr std::int64_t kRows = 9000;  // more than one chunk of rows
  Modes given{.values = Array<double>(kRows * 4), .width = 4, .block_size = 1};
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double x = static_cast<double>(i) / kRows;
    given.values[i * 4] = 1;
    given.values[i * 4 + 1] = 1 + 1e-4 * x;
    given.values[i * 4 + 2] = 3 - 2e-4 * x;  // a combination of the two before it
    given.values[i * 4 + 3] = x * x;
  }
  Modes modes = given;
  EXPECT_EQ(orthonormalise(modes, kOneRank), std::vector<std::int32_t>{2});
  ASSERT_EQ(modes.width, 3);
  EXPECT_LT(distance_from_orthonormal(modes), 1e-12);
  for (std::int64_t k = 0; k < 4; ++k) {
    std::vector<double> products(3, 0.0);
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        products[j] += given.values[i * 4 + k] * modes.values[i * 3 + j];
    for (std::int64_t i = 0; i < kRows; ++i) {
      double rest = given.values[i * 4 + k];
      for (std::int64_t j = 0; j < 3; ++j) rest -= products[j] * modes.values[i * 3 + j];
      ASSERT_NEAR(rest, 0, 1e-11) << "column " << k << ", row " << i;
    }
  }
}

TEST(OrthonormalColumns, HaveTheSameBitsForAnyNumberOfThreads) {
  const Modes given = modes_of(scattered(3, 7000));
  const int before = omp_get_max_threads();
  Array<double> first;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    Modes modes = given;
    orthonormalise(modes, kOneRank);
    if (first.empty()) first = modes.values;
    EXPECT_EQ(modes.values, first) << threads;
  }
  omp_set_num_threads(before);
}

TEST(Coordinates, OfAGeneratorAreTheSameFromAnySlab) {
  for (const char* kind : {"elasticity3d", "elasticity3d-shuffled"}) {
    const GenerateSpec spec{.kind = kind, .n = 18, .seed = 7};
    const std::int64_t nodes = generator_shape(spec).rows / generator_unknowns_per_node(spec);
    ASSERT_EQ(nodes, 18 * 18 * 18);
    const std::vector<Array<double>> all = generator_coordinates(spec, 0, nodes);
    ASSERT_EQ(all.size(), 3u);
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, nodes / 2, nodes}) {
      const std::vector<Array<double>> part = generator_coordinates(spec, first, nodes);
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_TRUE(std::equal(part[axis].begin(), part[axis].end(), all[axis].begin() + first,
                               all[axis].end()))
            << kind << " from " << first;
    }
  }
  EXPECT_TRUE(generator_coordinates({.kind = "poisson3d", .n = 4}, 0, 64).empty());
  EXPECT_EQ(generator_unknowns_per_node({.kind = "blocks", .n = 4}), 1);
}

}  // namespace
}  // namespace trireme
