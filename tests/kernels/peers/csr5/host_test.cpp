// SPDX-License-Identifier: BSD-3-Clause
// Tests CSR5 on the host beyond the contract: tiles of every shape, and what the published code
// gets wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/peers/csr5/csr5.hpp"
#include "kernels/peers/csr5/tile_shapes.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

testing::AssertionResult multiplies(const CsrMatrix<double>& a, csr5::TileShape shape) {
  return matches_reference(*build_csr5_host(a.view(), shape), a.view());
}

TEST(Csr5Host, SumsTheRowsOfTheDrawing) {
  const CsrMatrix<double> a = csr5_drawing();
  const Array<double> x(8, 1.0);
  Array<double> y = poisoned_vector<double>(8);
  build_csr5_host(a.view(), csr5::TileShape{4, 4})->multiply(x, y, Accumulate::no);
  EXPECT_EQ(y, (Array<double>{6, 0, 39, 10, 116, 180, 84, 160}));
}

TEST(Csr5Host, MatchesReferenceForEveryShapeOfTheTiles) {
  for (const auto& [name, a] : contract_shapes<double>())
    for (const csr5::TileShape shape : csr5_tile_shapes()) {
      SCOPED_TRACE(name + " in tiles of " + std::to_string(shape.omega) + " x " +
                   std::to_string(shape.sigma));
      EXPECT_TRUE(multiplies(a, shape));
    }
}

// Rows of 0 to 40 nonzeros, half of them empty, so that tiles of 4 x 4 begin and end in every way.
TEST(Csr5Host, MatchesReferenceOnRandomRowsBetweenEmptyRows) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::int64_t> lengths(1 + random.below(40));
    for (std::int64_t& length : lengths)
      length = random.below(2) * random.below(random.below(4) == 0 ? 41 : 6);
    const auto a = matrix_with_row_lengths<double>(lengths, 50, seed, Columns::unsorted);
    ASSERT_TRUE(multiplies(a, {4, 4}));
    ASSERT_TRUE(multiplies(a, {2, 8}));
  }
}

TEST(Csr5Host, MatchesReferenceWhereEmptyRowsLieAtTheBoundaryOfATile) {
  for (const std::int64_t empty : {0, 1, 2, 7})
    for (const std::int64_t length : {15, 16, 17, 32}) {
      SCOPED_TRACE(std::to_string(empty) + " empty rows, rows of " + std::to_string(length));
      std::vector<std::int64_t> lengths(empty, 0);
      for (int row = 0; row < 9; ++row) {
        lengths.push_back(length);
        lengths.insert(lengths.end(), empty, 0);
      }
      EXPECT_TRUE(multiplies(matrix_with_row_lengths<double>(lengths, 40), {4, 4}));
    }
}

TEST(Csr5Host, MatchesReferenceWhereOneRowGoesThroughManyTiles) {
  for (const std::int64_t before : {0, 1, 15, 16, 17})
    for (const std::int64_t length : {16, 160, 1000, 1001})
      for (const std::int64_t after : {0, 1, 16}) {
        SCOPED_TRACE(std::to_string(before) + ", " + std::to_string(length) + ", " +
                     std::to_string(after));
        EXPECT_TRUE(
            multiplies(matrix_with_row_lengths<double>({before, 0, length, after}, 1001), {4, 4}));
      }
}

TEST(Csr5Host, StoresZerosOnlyForAMatrixOfEmptyRows) {
  const auto a = matrix_with_row_lengths<double>(std::vector<std::int64_t>(77, 0), 9);
  const auto kernel = build_csr5_host(a.view());
  const Array<double> x(9, 1.0);
  Array<double> y = poisoned_vector<double>(77);
  kernel->multiply(x, y, Accumulate::no);
  EXPECT_EQ(y, Array<double>(77, 0.0));
  y.assign(77, 3.0);
  kernel->multiply(x, y, Accumulate::yes);
  EXPECT_EQ(y, Array<double>(77, 3.0));
}

// Differences of prefix sums would leave no digit of the small rows.
TEST(Csr5Host, LargeNumbersOfARowTakeNoDigitsFromAnotherRow) {
  auto a = matrix_with_row_lengths<double>(random_lengths(200, 0, 40), 64, 7);
  for (std::int64_t row = 0; row < a.rows; row += 2)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) a.values[k] *= 1e30;
  for (const csr5::TileShape shape : csr5_tile_shapes()) EXPECT_TRUE(multiplies(a, shape));
}

TEST(Csr5Host, CountsThePaddingOfTheLastTile) {
  const CsrMatrix<double> a = csr5_drawing();
  const auto statistics = build_csr5_host(a.view(), csr5::TileShape{4, 4})->statistics();
  EXPECT_DOUBLE_EQ(statistics.padding_ratio, 48.0 / 34 - 1);
  // tile_ptr, tile_desc, empty_offset_ptr, empty_offset, empty_rows, nonzeros
  EXPECT_EQ(statistics.stored_bytes, 4 * (4 + 12 + 4 + 4 + 1) + 12 * 48);
  EXPECT_EQ(statistics.steps.size(), 3u);
}

}  // namespace
}  // namespace trireme::test
