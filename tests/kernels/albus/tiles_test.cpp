// SPDX-License-Identifier: BSD-3-Clause
// Tests the tiles of ALBUS: the drawing in layout.hpp, that every nonzero has one place, products
// of small tiles, and which parts are stored in tiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "kernels/albus/tiles.hpp"
#include "product_of_parts.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kCacheBytes = std::int64_t{2} << 20;

// The layout of `count` parts, all of whose whole rows lie in tiles of `shape`.
template <class Value>
albus::Layout<Value> tiled(const CsrMatrix<Value>& matrix, std::int64_t count,
                           albus::TileShape shape) {
  albus::Layout<Value> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.row_ptr = matrix.row_ptr;
  layout.col_idx = matrix.col_idx;
  layout.values = matrix.values;
  layout.parts = albus::partition(matrix.row_ptr, count);
  layout.tile_columns = std::int64_t{1} << shape.column_bits;
  for (albus::Part& part : layout.parts)
    albus::build_tiles(
        {matrix.row_ptr, matrix.col_idx, matrix.cols, part.start, part.whole_rows_end()}, shape,
        part);
  albus::place_values(layout, layout.values, layout.placed);
  return layout;
}

TEST(AlbusTiles, AreThoseOfTheDrawing) {
  CsrMatrix<double> matrix;
  matrix.rows = 4;
  matrix.cols = 8;
  matrix.row_ptr = {0, 3, 6, 7, 10};
  matrix.col_idx = {0, 1, 4, 4, 5, 6, 2, 0, 2, 5};
  matrix.values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // a to j
  const auto layout = tiled(matrix, 1, {.rows = 4, .column_bits = 2});
  const albus::Part& part = layout.parts[0];
  ASSERT_EQ(part.blocks.size(), 1u);
  ASSERT_EQ(part.tiles.size(), 2u);
  EXPECT_EQ(layout.placed, (LineArray<double>{7, 1, 2, 8, 9, 3, 10, 4, 5, 6}));
  EXPECT_EQ(part.tile_columns, (Array<std::uint16_t>{2, 0, 1, 0, 2, 0, 1, 0, 1, 2}));
  EXPECT_EQ(part.tile_rows, (Array<std::uint16_t>{2, 0, 3, 0, 3, 1}));
  std::vector<std::pair<int, int>> runs;
  for (const albus::Run run : part.runs) runs.emplace_back(run.length, run.count);
  EXPECT_EQ(runs, (std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {1, 2}, {3, 1}}));
}

template <class Value>
class AlbusTileValues : public testing::Test {};
using ValueTypes = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(AlbusTileValues, ValueTypes);

// Multiplies every shape in tiles that are much smaller than those that the builder chooses, so
// that rows, heads and tails meet all edges of tiles.
TYPED_TEST(AlbusTileValues, MatchTheReferenceOnEveryShapeInSmallTiles) {
  for (const auto& [name, matrix] : test::contract_shapes<TypeParam>()) {
    if (matrix.rows == 0) continue;
    for (const albus::TileShape shape : {albus::TileShape{7, 3}, {100, 8}, {1000, 16}})
      for (const std::int64_t count : {1, 3}) {
        SCOPED_TRACE(name + " in tiles of " + std::to_string(shape.rows) + " rows, " +
                     std::to_string(count) + " parts");
        const auto layout = tiled(matrix, count, shape);
        test::expect_product_of_parts<TypeParam>(layout, matrix);
      }
  }
}

TEST(AlbusTiles, HoldEveryNonzeroOfWholeRowsOnce) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    if (matrix.rows == 0) continue;
    SCOPED_TRACE(name);
    const auto layout = tiled(matrix, 3, {.rows = 50, .column_bits = 6});
    for (const albus::Part& part : layout.parts) {
      std::vector<bool> taken(part.tile_columns.size(), false);
      ASSERT_EQ(part.places.size(), part.tile_columns.size());
      for (const std::int32_t place : part.places) {
        ASSERT_FALSE(taken[place]);
        taken[place] = true;
      }
      std::int32_t row = part.start;
      for (const albus::TileBlock& block : part.blocks) {
        EXPECT_EQ(block.first_row, row);
        EXPECT_LE(block.rows, 50);
        row += block.rows;
      }
      EXPECT_EQ(row, part.blocks.empty() ? part.start : part.whole_rows_end());
    }
  }
}

// `near` of 16 columns of a row lie close to the diagonal, the others anywhere.
template <class Value>
CsrMatrix<Value> scattered(std::int64_t rows, std::int64_t cols, int near) {
  CsrMatrix<Value> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  test::Random random(17);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int k = 0; k < 16; ++k)
      matrix.col_idx.push_back(static_cast<std::int32_t>(
          k < near ? (row + 5 * k) % cols : random.below(static_cast<int>(cols))));
    matrix.row_ptr.push_back(static_cast<std::int32_t>(matrix.col_idx.size()));
  }
  matrix.values = test::random_vector<Value>(std::ssize(matrix.col_idx), 23);
  return matrix;
}

bool pays(const CsrMatrix<double>& matrix) {
  return albus::pays_in_tiles({matrix.row_ptr, matrix.col_idx, matrix.cols, 0, matrix.rows},
                              albus::tile_shape(kCacheBytes, sizeof(double)), kCacheBytes,
                              sizeof(double));
}

TEST(AlbusTiles, AreForPartsWhoseGathersMissTheCache) {
  EXPECT_TRUE(pays(scattered<double>(40000, 1000000, 0)));
  EXPECT_TRUE(pays(scattered<double>(40000, 400000, 10)));
  EXPECT_FALSE(pays(scattered<double>(40000, 1000000, 16))) << "columns near the diagonal";
  EXPECT_FALSE(pays(scattered<double>(40000, 200000, 0))) << "x fits into the cache";
  EXPECT_FALSE(pays(scattered<double>(30000, 1000000, 0))) << "too few nonzeros to sample";
  EXPECT_FALSE(pays(scattered<double>(40000, 100000000, 0))) << "x is read for too few nonzeros";
}

// The builder itself chooses the tiles, and new values reach them.
TYPED_TEST(AlbusTileValues, MatchTheReferenceWhereTheBuilderChoosesThem) {
  const auto matrix = scattered<TypeParam>(40000, 1000001, 3);
  std::vector<BuildStep> steps;
  EXPECT_FALSE(albus::build(matrix.view(), 1, steps).parts[0].tiles.empty());
  const auto kernel = build_albus_host<TypeParam>(matrix.view());
  EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  auto updated = matrix;
  updated.values = test::random_vector<TypeParam>(matrix.nnz(), 99);
  kernel->update_values(updated.values);
  EXPECT_TRUE(test::matches_reference(*kernel, updated.view()));
  if constexpr (std::is_same_v<TypeParam, float>) {
    EXPECT_TRUE(test::sums_in_fp64(*kernel, updated.view(), test::roundings_of_shares("albus")));
  }
}

TEST(AlbusTiles, HoldRoundedValuesInMixedPrecision) {
  const auto matrix = scattered<double>(40000, 1000001, 3);
  const auto kernel = build_albus_mixed_host(matrix.view());
  EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(matrix).view()));
}

}  // namespace
}  // namespace trireme
