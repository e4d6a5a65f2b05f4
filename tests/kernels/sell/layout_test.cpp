// SPDX-License-Identifier: BSD-3-Clause
// Tests the SELL layout: the order and the cut of the rows, the choice of the codes, and that no
// entry is lost.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/sell/build.hpp"
#include "kernels/sell/nearly_regular.hpp"
#include "kernels/sell/sell.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
sell::Layout<Value> layout_of(const CsrMatrix<Value>& a) {
  std::vector<BuildStep> steps;
  return sell::build(a.view(), steps);
}

CsrMatrix<double> tridiagonal(double off_diagonal, std::int32_t rows = 128) {
  CsrMatrix<double> a;
  a.rows = a.cols = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (const std::int32_t column : {row - 1, row, row + 1}) {
      if (column < 0 || column >= rows) continue;
      a.col_idx.push_back(column);
      a.values.push_back(column == row ? 2.0 : off_diagonal);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

TEST(SellLayout, PlacesTwoRowsOfALaneSideBySide) {
  EXPECT_EQ(sell::position(0, 2), 0);
  EXPECT_EQ(sell::position(32, 2), 1);
  EXPECT_EQ(sell::position(1, 2), 2);
  EXPECT_EQ(sell::position(63, 2), 63);
}

TEST(SellLayout, FindsTheRowAtAPosition) {
  for (const int lane_rows : {1, 2, 4})
    for (int slot = 0; slot < 32 * lane_rows; ++slot)
      EXPECT_EQ(sell::slot_at(sell::position(slot, lane_rows), lane_rows), slot);
}

// The 64 rows are too few for patterns.
TEST(SellLayout, WritesTheArraysOfATridiagonalMatrix) {
  const auto layout = layout_of(tridiagonal(-1.0, 64));
  EXPECT_FALSE(layout.form.sorted);
  EXPECT_FALSE(layout.form.patterned);
  EXPECT_TRUE(layout.form.narrow);
  EXPECT_TRUE(layout.form.in_fp32);
  EXPECT_EQ(layout.form.lane_rows, 1);
  EXPECT_EQ(layout.slice_ptr, (Array<std::int32_t>{0, 3, 6}));
  // Slice 0: row 0 has columns 0 1, row r has r-1 r r+1. Slice 1 begins with row 32.
  EXPECT_EQ(layout.base, (Array<std::int32_t>{0, 1, 2, 31, 32, 33}));
  const auto at = [](int step, int slot) { return step * 32 + slot; };
  ASSERT_EQ(layout.offsets.size(), 6 * 32);
  EXPECT_EQ(layout.offsets[at(0, 0)], 0);
  EXPECT_EQ(layout.offsets[at(1, 0)], 0);
  EXPECT_EQ(layout.offsets[at(2, 0)], sell::kNoOffset);
  EXPECT_EQ(layout.offsets[at(3, 8)], 8);
  EXPECT_EQ(layout.offsets[at(5, 8)], 8);
  EXPECT_EQ(layout.fp32_values[at(0, 0)], 2.0f);
  EXPECT_EQ(layout.fp32_values[at(3, 8)], -1.0f);
  EXPECT_EQ(layout.fp32_values[at(2, 0)], 0.0f);
  EXPECT_EQ(layout.offsets[at(5, 31)], sell::kNoOffset);  // row 63 has two entries
}

TEST(SellLayout, StoresEachPatternOfRowsOnce) {
  const auto layout = layout_of(tridiagonal(-1.0));
  EXPECT_TRUE(layout.form.patterned);
  EXPECT_TRUE(layout.offsets.empty() && layout.columns.empty() && layout.base.empty());
  EXPECT_EQ(layout.pattern_width, 8);
  constexpr std::int32_t none = sell::kNoDifference;
  EXPECT_EQ(layout.differences,
            (Array<std::int32_t>{none, none, none, none, none, none, none, none,  //
                                 0,    1,    none, none, none, none, none, none,  //
                                 -1,   0,    1,    none, none, none, none, none,  //
                                 -1,   0,    none, none, none, none, none, none}));
  ASSERT_EQ(layout.patterns.size(), 128);
  for (int row = 0; row < 128; ++row)
    EXPECT_EQ(static_cast<int>(layout.patterns[row]), row == 0 ? 1 : row == 127 ? 3 : 2);
}

TEST(SellLayout, StoresTheValuesOfRepeatedRowsOnce) {
  const auto layout = layout_of(tridiagonal(-1.0));
  EXPECT_TRUE(layout.form.repeated);
  EXPECT_EQ(layout.pattern_rows, (Array<std::int32_t>{-1, 0, 1, 127}));
  EXPECT_TRUE(layout.values.empty());
  EXPECT_EQ(layout.fp32_values, (Array<float>{0,  0,  0,  0, 0, 0, 0, 0,  //
                                              2,  -1, 0,  0, 0, 0, 0, 0,  //
                                              -1, 2,  -1, 0, 0, 0, 0, 0,  //
                                              -1, 2,  0,  0, 0, 0, 0, 0}));
}

// A zero with another sign is another value.
TEST(SellLayout, TellsRowsApartByTheBitsOfTheirValues) {
  for (const double other : {-2.0, 0.0, -0.0}) {
    auto a = tridiagonal(0.0);
    a.values[61] = other;  // beside the diagonal of row 20
    const auto layout = layout_of(a);
    EXPECT_TRUE(layout.form.repeated);
    const bool same = std::bit_cast<std::uint64_t>(other) == 0;
    EXPECT_EQ(layout.patterns[20] == layout.patterns[21], same) << other;
    EXPECT_EQ(layout.pattern_rows.size(), same ? 4 : 5);
  }
}

TEST(SellLayout, StoresValuesOneByOneWhereManyRowsDiffer) {
  auto a = tridiagonal(-1.0);
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] += static_cast<double>(k);
  const auto layout = layout_of(a);
  EXPECT_TRUE(layout.form.patterned);
  EXPECT_FALSE(layout.form.repeated);
  EXPECT_TRUE(layout.pattern_rows.empty());
  EXPECT_EQ(layout.fp32_values.size(), 3 * 128);
}

TEST(SellLayout, LimitsRepeatedRowsByTheirBytes) {
  EXPECT_TRUE(sell::few_repeated_rows(sell::kMaxRepeated / 8, 8, 1 << 30));
  EXPECT_FALSE(sell::few_repeated_rows(sell::kMaxRepeated / 8 + 1, 8, 1 << 30));
  EXPECT_FALSE(sell::few_repeated_rows(28, 32, 8 * 28 * 32 - 1));
}

TEST(SellLayout, HasPatternsAloneWhereTooManyRowsDiffer) {
  const auto layout = layout_of(test::repeating<double>(25'001, false, 600));
  EXPECT_TRUE(layout.form.patterned);
  EXPECT_FALSE(layout.form.repeated);
}

TEST(SellLayout, MultipliesRepeatedRowsInEveryOrder) {
  for (const std::int64_t rows : {std::int64_t{25'001}, sell::kLargeMatrix + 5})
    for (const bool sorted : {false, true}) {
      const auto a = test::repeating<double>(rows, sorted, 40);
      const auto layout = layout_of(a);
      EXPECT_TRUE(layout.form.repeated);
      EXPECT_EQ(layout.form.sorted, sorted);
      EXPECT_EQ(layout.form.lane_rows, 1);
      const auto kernel = build_sell_host<double>(a.view());
      EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
    }
}

TEST(SellLayout, LimitsThePatternsByTheirBytes) {
  EXPECT_TRUE(sell::few_patterns(28, 32, 8 * 28 * 32));
  EXPECT_FALSE(sell::few_patterns(28, 32, 8 * 28 * 32 - 1));  // the bytes of a quarter of columns
  EXPECT_TRUE(sell::few_patterns(sell::kMaxPatterns, 16, 1 << 30));
  EXPECT_FALSE(sell::few_patterns(sell::kMaxPatterns, 24, 1 << 30));  // the L1 cache
  EXPECT_FALSE(sell::few_patterns(sell::kMaxPatterns + 1, 8, 1 << 30));
}

TEST(SellLayout, MultipliesByPatternsInEveryOrderAndByEveryLane) {
  for (const std::int64_t rows : {std::int64_t{5001}, sell::kLargeMatrix + 5})
    for (const bool sorted : {false, true}) {
      const auto a = test::nearly_regular<double>(rows, sorted);
      const auto layout = layout_of(a);
      EXPECT_TRUE(layout.form.patterned);
      EXPECT_EQ(layout.form.sorted, sorted);
      EXPECT_EQ(layout.long_rows.size(), sorted ? 1 : 0);
      EXPECT_EQ(layout.form.lane_rows, rows < sell::kLargeMatrix ? 1 : 4);
      const auto kernel = build_sell_host<double>(a.view());
      EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
    }
}

// Columns in another order have no patterns, and x in that order has the same products.
TEST(SellLayout, PatternsDoNotChangeTheBitsOfAProduct) {
  for (const auto& [sorted, repeated] :
       {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    const auto a = repeated ? test::repeating<double>(25'001, sorted, 40)
                            : test::nearly_regular<double>(5001, sorted);
    std::vector<std::int32_t> place(a.cols);
    std::iota(place.begin(), place.end(), 0);
    test::Random random(3);
    for (std::int64_t k = a.cols - 1; k > 0; --k) std::swap(place[k], place[random.below(k + 1)]);
    auto moved = a;
    for (std::int32_t& column : moved.col_idx) column = place[column];
    const Array<double> x = test::random_vector<double>(a.cols, 5);
    Array<double> moved_x(x.size()), y(a.rows), moved_y(a.rows);
    for (std::size_t k = 0; k < x.size(); ++k) moved_x[place[k]] = x[k];
    ASSERT_TRUE(layout_of(a).form.patterned);
    ASSERT_EQ(layout_of(a).form.repeated, repeated);
    ASSERT_FALSE(layout_of(moved).form.patterned);
    build_sell_host<double>(a.view())->multiply(x, y, Accumulate::no);
    build_sell_host<double>(moved.view())->multiply(moved_x, moved_y, Accumulate::no);
    EXPECT_EQ(y, moved_y);
  }
}

TEST(SellLayout, KeepsValuesInFloatOnlyWhereExact) {
  EXPECT_TRUE(layout_of(tridiagonal(-0.5)).form.in_fp32);
  EXPECT_FALSE(layout_of(tridiagonal(-0.1)).form.in_fp32);
  auto infinite = tridiagonal(-1.0);
  infinite.values[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(layout_of(infinite).form.in_fp32);
}

TEST(SellLayout, FreesFloatsWhenNewValuesNeedDoubles) {
  const auto exact = tridiagonal(-0.5), other = tridiagonal(-0.1);
  auto layout = layout_of(exact);
  sell::fill_values(other.view(), layout);
  EXPECT_FALSE(layout.form.in_fp32);
  EXPECT_EQ(layout.fp32_values.capacity(), 0u);
}

TEST(SellLayout, TakesWideColumnsWhereSixteenBitsDoNotReach) {
  CsrMatrix<double> a;
  a.rows = 64;
  a.cols = 70'000;
  for (std::int32_t row = 0; row < 64; ++row) {
    a.col_idx.push_back(row == 63 ? 65'534 : 0);
    a.values.push_back(1);
    a.row_ptr.push_back(row + 1);
  }
  EXPECT_TRUE(layout_of(a).form.narrow);
  a.col_idx[63] = 65'535;  // the code of padding
  EXPECT_FALSE(layout_of(a).form.narrow);
}

TEST(SellLayout, SetsLongRowsApartAndLosesNoNonzero) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto layout = layout_of(matrix);
    std::int64_t entries = layout.apart.nnz();
    for (const std::uint16_t offset : layout.offsets) entries += offset != sell::kNoOffset;
    for (const std::int32_t column : layout.columns) entries += column != sell::kNoColumn;
    for (const sell::PatternId pattern : layout.patterns)
      for (std::int32_t j = 0; j < layout.pattern_width; ++j)
        entries += layout.differences[static_cast<int>(pattern) * layout.pattern_width + j] !=
                   sell::kNoDifference;
    EXPECT_EQ(entries, matrix.nnz());
    const std::int64_t longest = sell::longest_row(matrix.rows, matrix.nnz());
    for (const std::int32_t row : layout.long_rows)
      EXPECT_GT(matrix.row_ptr[row + 1] - matrix.row_ptr[row], longest);
  }
}

TEST(SellLayout, GivesLanesOfLargeMatricesMoreRows) {
  for (const bool narrow : {true, false}) {
    CsrMatrix<double> a;
    a.rows = sell::kLargeMatrix;
    a.cols = 100'000;
    for (std::int32_t row = 0; row < a.rows; ++row) {
      a.col_idx.push_back(!narrow && row % 64 == 0 ? 99'999 : row % 7);
      a.values.push_back(row % 5 + 1);
      a.row_ptr.push_back(row + 1);
    }
    const auto layout = layout_of(a);
    EXPECT_EQ(layout.form.narrow, narrow);
    EXPECT_EQ(layout.form.lane_rows, narrow ? 4 : 2);
    const auto kernel = build_sell_host<double>(a.view());
    EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  }
}

// New values may repeat as before, or not; then all values are stored, and every later product is
// right.
TEST(SellHost, StoresAllValuesWhenNewOnesDoNotRepeat) {
  const auto a = test::repeating<double>(25'001, true, 40);
  const auto kernel = build_sell_host<double>(a.view());
  const auto bytes = kernel->statistics().stored_bytes;
  EXPECT_LT(bytes, 8 * a.nnz() / 2);
  auto b = a;
  for (double& value : b.values) value *= 3;
  kernel->update_values(b.values);
  EXPECT_EQ(kernel->statistics().stored_bytes, bytes);
  EXPECT_TRUE(test::matches_reference(*kernel, b.view()));
  b.values[b.row_ptr[20'000] + 1] = 5;
  kernel->update_values(b.values);
  EXPECT_GT(kernel->statistics().stored_bytes, bytes + 7 * a.nnz());
  EXPECT_TRUE(test::matches_reference(*kernel, b.view()));
  kernel->update_values(a.values);
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

TEST(SellHost, StoresAllValuesWhenAZeroChangesItsSign) {
  const auto a = tridiagonal(0.0);
  const auto kernel = build_sell_host<double>(a.view());
  const auto bytes = kernel->statistics().stored_bytes;
  auto values = a.values;
  values[61] = -0.0;  // beside the diagonal of row 20
  kernel->update_values(a.values);
  EXPECT_EQ(kernel->statistics().stored_bytes, bytes);
  kernel->update_values(values);
  EXPECT_GT(kernel->statistics().stored_bytes, bytes);
}

TEST(SellHost, LeavesFloatsWhenNewValuesNeedDoubles) {
  const auto a = tridiagonal(-1.0);
  const auto kernel = build_sell_host<double>(a.view());
  const auto before = kernel->statistics().stored_bytes;
  const auto b = tridiagonal(-0.1);
  kernel->update_values(b.values);
  EXPECT_GT(kernel->statistics().stored_bytes, before);
  EXPECT_TRUE(test::matches_reference(*kernel, b.view()));
}

}  // namespace
}  // namespace trireme
