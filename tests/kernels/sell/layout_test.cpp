// SPDX-License-Identifier: BSD-3-Clause
// Tests the SELL layout: the order and the cut of the rows, the choice of the codes, and that no
// entry is lost.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/sell/build.hpp"
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

// A tridiagonal matrix of 128 rows.
CsrMatrix<double> tridiagonal(double off_diagonal) {
  CsrMatrix<double> a;
  a.rows = a.cols = 128;
  for (std::int32_t row = 0; row < 128; ++row) {
    for (const std::int32_t column : {row - 1, row, row + 1}) {
      if (column < 0 || column >= 128) continue;
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

TEST(SellLayout, WritesTheArraysOfATridiagonalMatrix) {
  const auto layout = layout_of(tridiagonal(-1.0));
  EXPECT_FALSE(layout.code.sorted);
  EXPECT_TRUE(layout.code.narrow);
  EXPECT_TRUE(layout.code.singles);
  EXPECT_EQ(layout.code.lane_rows, 1);
  EXPECT_EQ(layout.slice_ptr, (Array<std::int32_t>{0, 3, 6, 9, 12}));
  // Slice 0: row 0 has columns 0 1, row r has r-1 r r+1. Slice 1 begins with row 32.
  EXPECT_EQ(layout.base, (Array<std::int32_t>{0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97}));
  const auto at = [](int step, int slot) { return step * 32 + slot; };
  EXPECT_EQ(layout.offsets[at(0, 0)], 0);
  EXPECT_EQ(layout.offsets[at(1, 0)], 0);
  EXPECT_EQ(layout.offsets[at(2, 0)], sell::kNoOffset);
  EXPECT_EQ(layout.offsets[at(3, 8)], 8);
  EXPECT_EQ(layout.offsets[at(5, 8)], 8);
  EXPECT_EQ(layout.singles[at(0, 0)], 2.0f);
  EXPECT_EQ(layout.singles[at(3, 8)], -1.0f);
  EXPECT_EQ(layout.singles[at(2, 0)], 0.0f);
  EXPECT_EQ(layout.offsets[at(11, 31)], sell::kNoOffset);  // row 127 has two entries
}

TEST(SellLayout, KeepsValuesInFloatOnlyWhereExact) {
  EXPECT_TRUE(layout_of(tridiagonal(-0.5)).code.singles);
  EXPECT_FALSE(layout_of(tridiagonal(-0.1)).code.singles);
  auto infinite = tridiagonal(-1.0);
  infinite.values[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(layout_of(infinite).code.singles);
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
  EXPECT_TRUE(layout_of(a).code.narrow);
  a.col_idx[63] = 65'535;  // the code of padding
  EXPECT_FALSE(layout_of(a).code.narrow);
}

TEST(SellLayout, SetsLongRowsApartAndLosesNoNonzero) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto layout = layout_of(matrix);
    std::int64_t entries = layout.apart.nnz();
    for (const std::uint16_t offset : layout.offsets) entries += offset != sell::kNoOffset;
    for (const std::int32_t column : layout.columns) entries += column != sell::kNoColumn;
    EXPECT_EQ(entries, matrix.nnz());
    const std::int64_t longest = sell::longest_row(matrix.rows, matrix.nnz());
    for (const std::int32_t row : layout.long_rows)
      EXPECT_GT(matrix.row_ptr[row + 1] - matrix.row_ptr[row], longest);
  }
}

TEST(SellLayout, GivesLanesOfLargeMatricesMoreRows) {
  for (const bool narrow : {true, false}) {
    CsrMatrix<double> a;
    a.rows = sell::kSmallMatrix;
    a.cols = 100'000;
    for (std::int32_t row = 0; row < a.rows; ++row) {
      a.col_idx.push_back(!narrow && row % 64 == 0 ? 99'999 : row % 7);
      a.values.push_back(row % 5 + 1);
      a.row_ptr.push_back(row + 1);
    }
    const auto layout = layout_of(a);
    EXPECT_EQ(layout.code.narrow, narrow);
    EXPECT_EQ(layout.code.lane_rows, narrow ? 4 : 2);
    const auto kernel = build_sell_host<double>(a.view());
    EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  }
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
