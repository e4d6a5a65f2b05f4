// SPDX-License-Identifier: BSD-3-Clause
// Tests the layout of ragged rows: lanes per row, cut rows, the codes of the columns, and that no
// entry is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "kernels/sell/build.hpp"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/ragged_kernels.hpp"
#include "kernels/sell/ragged_shapes.hpp"
#include "kernels/sell/sell.hpp"
#include "support/host_product.hpp"

namespace trireme {
namespace {

using sell::ColumnCode;
using sell::RaggedSlice;

TEST(RaggedRows, GivesARowLanesByItsLength) {
  for (const auto& [length, log2] : std::vector<std::pair<int, int>>{{0, 0},
                                                                     {16, 0},
                                                                     {17, 1},
                                                                     {32, 1},
                                                                     {33, 2},
                                                                     {128, 3},
                                                                     {129, 4},
                                                                     {256, 4},
                                                                     {257, 5},
                                                                     {100'000, 5}})
    EXPECT_EQ(sell::log2_lanes(length), log2) << length;
}

TEST(RaggedRows, PacksASlice) {
  RaggedSlice slice;
  slice.packed = RaggedSlice::pack(5, true, 64, 65'535);
  slice.set_code(ColumnCode::runs);
  EXPECT_EQ(slice.log2_lanes(), 5);
  EXPECT_TRUE(slice.part());
  EXPECT_EQ(slice.rows(), 64);
  EXPECT_EQ(slice.steps(), 65'535);
  EXPECT_EQ(slice.code(), ColumnCode::runs);
}

TEST(RaggedRows, PlacesTheEntriesOfFourLanesPerRow) {
  RaggedSlice slice;
  slice.packed = RaggedSlice::pack(2, false, 16, 2);
  EXPECT_EQ(slice.row_of(0, 0), 0);
  EXPECT_EQ(slice.row_of(7, 0), 1);
  EXPECT_EQ(slice.row_of(7, 1), 9);
  EXPECT_EQ(slice.entry_of(7, 0), 3);
  EXPECT_EQ(slice.entry_of(7, 1), 7);
}

TEST(RaggedRows, AreThoseWithATenthOfTheNonzerosInLongRows) {
  EXPECT_FALSE(sell::is_ragged(10, 100));
  EXPECT_TRUE(sell::is_ragged(11, 100));
  EXPECT_FALSE(sell::is_ragged(0, 0));
  const auto few = test::ragged<double>(2000, 40'000, test::Pattern::scattered);
  const auto kernel = build_sell_host<double>(few.view());
  const auto ragged = sell::build_ragged_host<double>(few.view());
  EXPECT_EQ(kernel->statistics().stored_bytes, ragged->statistics().stored_bytes);
}

// Every entry has one place, and every row is whole in one slice or cut into parts.
TEST(RaggedRows, LosesNoNonzeroAndNoRow) {
  for (const auto& [name, matrix] : test::ragged_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto layout = sell::build_ragged(matrix.view());
    std::vector<int> times(matrix.nnz(), 0);
    std::vector<int> rows(matrix.rows, 0);
    std::int64_t next_step = 0;
    for (std::size_t i = 0; i < layout.slices.size(); ++i) {
      const RaggedSlice& slice = layout.slices[i];
      EXPECT_EQ(slice.first_step, next_step);
      next_step += slice.steps();
      sell::for_each_entry(matrix.view(), layout, i, [&](std::int64_t entry, std::int64_t, int) {
        if (entry >= 0) ++times[entry];
      });
      for (std::int32_t row = 0; row < slice.rows(); ++row)
        ++rows[layout.row_order[slice.first_row + row]];
    }
    for (const sell::CutRow& cut : layout.cut_rows) ++rows[cut.row];
    EXPECT_EQ(next_step, layout.steps());
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), matrix.nnz());
    EXPECT_EQ(std::count(rows.begin(), rows.end(), 1), matrix.rows);
  }
}

TEST(RaggedRows, MultipliesAndTakesNewValues) {
  for (const auto& [name, matrix] : test::ragged_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto kernel = sell::build_ragged_host<double>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
    auto other = matrix;
    for (double& value : other.values) value = 1 / (3 + value);
    kernel->update_values(other.values);
    EXPECT_TRUE(test::matches_reference(*kernel, other.view()));
  }
  for (const auto& [name, matrix] : test::ragged_shapes<float>()) {
    SCOPED_TRACE(name);
    const auto kernel = sell::build_ragged_host<float>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

TEST(RaggedRows, LeaveFloatsWhenNewValuesNeedDoubles) {
  const auto a = test::rounded_to_float(test::ragged<double>(3000, 60'000, test::Pattern::strided));
  const auto kernel = sell::build_ragged_host<double>(a.view());
  const auto before = kernel->statistics().stored_bytes;
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  auto other = a;
  for (double& value : other.values) value = 1 / (3 + value);
  kernel->update_values(other.values);
  EXPECT_GT(kernel->statistics().stored_bytes, before);
  EXPECT_TRUE(test::matches_reference(*kernel, other.view()));
  auto layout = sell::build_ragged(a.view());
  ASSERT_TRUE(layout.in_fp32);
  sell::fill_values(other.view(), layout);
  EXPECT_EQ(layout.fp32_values.capacity(), 0u);
}

std::set<ColumnCode> codes_of(const CsrMatrix<double>& a) {
  std::set<ColumnCode> codes;
  for (const RaggedSlice& slice : sell::build_ragged(a.view()).slices) codes.insert(slice.code());
  return codes;
}

TEST(RaggedRows, StoresColumnsInTheShortestCodeOfEachSlice) {
  EXPECT_EQ(codes_of(test::ragged<double>(3000, 60'000, test::Pattern::consecutive)),
            (std::set{ColumnCode::offsets, ColumnCode::runs}));  // offsets for the shortest rows
  EXPECT_EQ(codes_of(test::ragged<double>(3000, 60'000, test::Pattern::strided)),
            (std::set{ColumnCode::offsets}));
  EXPECT_TRUE(codes_of(test::ragged<double>(3000, 200'000, test::Pattern::scattered))
                  .contains(ColumnCode::columns));
}

// A column that is out of turn at the end of a row is no run, and neither are unsorted columns.
TEST(RaggedRows, ChecksEveryColumnOfARun) {
  auto a = test::ragged<double>(3000, 60'000, test::Pattern::consecutive);
  const auto runs = [&] {
    std::int64_t count = 0;
    for (const RaggedSlice& slice : sell::build_ragged(a.view()).slices)
      count += slice.code() == ColumnCode::runs;
    return count;
  };
  const auto before = runs();
  const auto longest =
      std::max_element(a.row_ptr.begin() + 1, a.row_ptr.end(),
                       [&](const auto& l, const auto& r) { return l - *(&l - 1) < r - *(&r - 1); });
  std::int32_t& last = a.col_idx[*longest - 1];
  last += 1;
  EXPECT_EQ(runs(), before);  // the longest row is cut: it has no run
  last -= 1;
  std::int64_t row = 0;  // a row of several lanes
  while (a.row_ptr[row + 1] - a.row_ptr[row] < 60 || a.row_ptr[row + 1] - a.row_ptr[row] > 900)
    ++row;
  std::swap(a.col_idx[a.row_ptr[row] + 20], a.col_idx[a.row_ptr[row] + 21]);
  EXPECT_EQ(runs(), before - 1);
  EXPECT_TRUE(test::matches_reference(*sell::build_ragged_host<double>(a.view()), a.view()));
  std::swap(a.col_idx[a.row_ptr[row] + 20], a.col_idx[a.row_ptr[row] + 21]);
  a.col_idx[a.row_ptr[row + 1] - 1] += 1;
  EXPECT_EQ(runs(), before - 1);
}

TEST(RaggedRows, KnowsWhetherMostColumnsAreNear) {
  EXPECT_TRUE(
      sell::build_ragged(test::ragged<double>(60'000, 60'000, test::Pattern::consecutive).view())
          .local);
  EXPECT_FALSE(
      sell::build_ragged(test::ragged<double>(3000, 200'000, test::Pattern::scattered).view())
          .local);
}

TEST(RaggedRows, CutsRowsThatAreLongerThanTwiceTheMean) {
  EXPECT_EQ(sell::longest_whole_row(1000, 14'000), 1024);
  EXPECT_EQ(sell::longest_whole_row(1000, 1'200'000), 2400);
  EXPECT_EQ(sell::longest_whole_row(1000, 9'000'000), 4000);
  const auto a = test::ragged<double>(3000, 60'000, test::Pattern::strided);
  const auto layout = sell::build_ragged(a.view());
  ASSERT_FALSE(layout.cut_rows.empty());
  for (const sell::CutRow& cut : layout.cut_rows) {
    const std::int64_t length = a.row_ptr[cut.row + 1] - a.row_ptr[cut.row];
    EXPECT_GT(length, 1024);
    EXPECT_EQ(cut.parts, (length + 511) / 512);  // 16 steps of 32 lanes of one row
  }
}

}  // namespace
}  // namespace trireme
