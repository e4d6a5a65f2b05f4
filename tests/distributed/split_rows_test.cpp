// SPDX-License-Identifier: BSD-3-Clause
// A slab is cut into its local block and its ghost block.
#include "distributed/split_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sparse/row_blocks.hpp"
#include "support/shapes.hpp"
#include "support/with_threads.hpp"

namespace trireme {
namespace {

RowSlab slab_of(CsrMatrix<double> rows, std::int64_t first_row) {
  const std::int64_t cols = rows.cols, nnz = rows.nnz();
  return {.global_rows = cols,
          .global_cols = cols,
          .global_nnz = nnz,
          .first_row = first_row,
          .local = std::move(rows)};
}

TEST(SplitRows, EveryEntryKeepsItsRowColumnAndValue) {
  for (const auto order : {test::Columns::ascending, test::Columns::unsorted}) {
    const CsrMatrix<double> rows =
        test::matrix_with_row_lengths<double>(test::random_lengths(50, 0, 40), 200, 3, order);
    const SplitRows split = split_rows(slab_of(rows, 60), 60, 110);
    ASSERT_EQ(split.nnz(), rows.nnz());
    EXPECT_EQ(split.local.cols, 50);
    EXPECT_EQ(split.ghost.cols, static_cast<std::int64_t>(split.ghost_columns.size()));
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      std::int32_t local = split.local.row_ptr[row], ghost = split.ghost.row_ptr[row];
      for (std::int32_t k = rows.row_ptr[row]; k < rows.row_ptr[row + 1]; ++k) {
        const std::int32_t column = rows.col_idx[k];
        if (column >= 60 && column < 110) {
          EXPECT_EQ(split.local.col_idx[local] + 60, column);
          EXPECT_EQ(split.local.values[local++], rows.values[k]);
        } else {
          EXPECT_EQ(split.ghost_columns[split.ghost.col_idx[ghost]], column);
          EXPECT_EQ(split.ghost.values[ghost++], rows.values[k]);
        }
      }
      EXPECT_EQ(local, split.local.row_ptr[row + 1]);
      EXPECT_EQ(ghost, split.ghost.row_ptr[row + 1]);
    }
  }
}

TEST(SplitRows, GhostColumnsAscendWithoutRepeatsOrGaps) {
  const SplitRows split =
      split_rows(slab_of(test::matrix_with_row_lengths<double>({3, 1, 4}, 1000, 7), 500), 500, 503);
  std::vector<bool> used(split.ghost_columns.size(), false);
  for (const std::int32_t k : split.ghost.col_idx) used.at(k) = true;
  for (std::size_t k = 0; k < used.size(); ++k) EXPECT_TRUE(used[k]) << k;
  for (std::size_t k = 1; k < split.ghost_columns.size(); ++k)
    EXPECT_LT(split.ghost_columns[k - 1], split.ghost_columns[k]);
}

TEST(SplitRows, WithoutGhostsTheArraysAreMoved) {
  RowSlab slab = slab_of(test::matrix_with_row_lengths<double>({2, 2}, 10, 5), 0);
  slab.global_cols = slab.local.cols = 10;
  const double* values = slab.local.values.data();
  const SplitRows split = split_rows(std::move(slab), 0, 10);
  EXPECT_EQ(split.local.values.data(), values);
  EXPECT_EQ(split.ghost.nnz(), 0);
  EXPECT_TRUE(split.is_ghost.empty());
}

TEST(SplitRows, ScatteredValuesLandWhereTheirEntriesAre) {
  const CsrMatrix<double> rows = test::matrix_with_row_lengths<double>(
      test::random_lengths(30, 0, 20), 90, 9, test::Columns::unsorted);
  CsrMatrix<double> doubled = rows;
  for (double& value : doubled.values) value *= 2;
  SplitRows split = split_rows(slab_of(rows, 30), 30, 60);
  scatter_values(doubled.values, split);
  const SplitRows expected = split_rows(slab_of(doubled, 30), 30, 60);
  EXPECT_EQ(split.local.values, expected.local.values);
  EXPECT_EQ(split.ghost.values, expected.ghost.values);
}

TEST(SplitRows, BlocksOfRowsAreSplitLikeOneBlock) {
  const CsrMatrix<double> rows = test::matrix_with_row_lengths<double>(
      test::random_lengths(200, 0, 30), 600, 11, test::Columns::unsorted);
  CsrMatrix<double> blocks = rows;
  cut_again(blocks, 700);
  ASSERT_GE(blocks.cuts.size(), 3u);
  const SplitRows one = split_rows(slab_of(rows, 200), 200, 400);
  SplitRows several = split_rows(slab_of(blocks, 200), 200, 400);
  EXPECT_EQ(several.local.cuts, blocks.cuts);
  EXPECT_EQ(several.ghost.cuts, blocks.cuts);
  EXPECT_EQ(several.local.col_idx, one.local.col_idx);
  EXPECT_EQ(several.ghost.col_idx, one.ghost.col_idx);
  EXPECT_EQ(several.ghost_columns, one.ghost_columns);
  for (std::int64_t row = 0; row <= rows.rows; ++row) {
    EXPECT_EQ(several.local.row_begin(row), one.local.row_begin(row));
    EXPECT_EQ(several.ghost.row_begin(row), one.ghost.row_begin(row));
  }
  std::int64_t next = 0;
  for (const SplitRows::Rows& part : several.rows_by_blocks()) {
    EXPECT_EQ(part.first_row, next);
    EXPECT_EQ(part.local.rows, part.ghost.rows);
    next += part.local.rows;
  }
  EXPECT_EQ(next, rows.rows);
  scatter_values(rows.values, several);
  EXPECT_EQ(several.local.values, one.local.values);
  EXPECT_EQ(several.ghost.values, one.ghost.values);
}

TEST(SplitRows, AnyNumberOfThreadsSplitsAlike) {
  const CsrMatrix<double> rows = test::matrix_with_row_lengths<double>(
      test::random_lengths(300, 0, 30), 900, 17, test::Columns::unsorted);
  CsrMatrix<double> blocks = rows;
  cut_again(blocks, 1500);
  for (const auto& [first, last] : {std::pair<int, int>{0, 900}, {10, 880}, {400, 700}, {0, 0}}) {
    const test::WithThreads one(1);
    const SplitRows expected = split_rows(slab_of(blocks, first), first, last);
    CsrMatrix<double> doubled = blocks;
    for (double& value : doubled.values) value *= 2;
    const SplitRows expected_doubled = split_rows(slab_of(doubled, first), first, last);
    for (const int threads : {2, 3, 5, 16}) {
      SCOPED_TRACE(std::to_string(first) + " " + std::to_string(last) + " " +
                   std::to_string(threads));
      const test::WithThreads several(threads);
      SplitRows split = split_rows(slab_of(blocks, first), first, last);
      EXPECT_EQ(split.local.row_ptr, expected.local.row_ptr);
      EXPECT_EQ(split.local.col_idx, expected.local.col_idx);
      EXPECT_EQ(split.local.values, expected.local.values);
      EXPECT_EQ(split.ghost.row_ptr, expected.ghost.row_ptr);
      EXPECT_EQ(split.ghost.col_idx, expected.ghost.col_idx);
      EXPECT_EQ(split.ghost.values, expected.ghost.values);
      EXPECT_EQ(split.ghost_columns, expected.ghost_columns);
      EXPECT_EQ(split.is_ghost, expected.is_ghost);
      scatter_values(doubled.values, split);
      EXPECT_EQ(split.local.values, expected_doubled.local.values);
      EXPECT_EQ(split.ghost.values, expected_doubled.ghost.values);
    }
  }
}

// The same rows where the first one is number 0, and where it is number 2,999,999,000.
TEST(SplitRows, ColumnsBeyondTwoToTheThirtyOneAreSplitLikeSmallOnes) {
  constexpr std::int64_t kFirst = 2'999'999'000;
  const CsrMatrix<double> rows =
      test::matrix_with_row_lengths<double>(test::random_lengths(100, 0, 30), 600, 13);
  const SplitRows low = split_rows(slab_of(rows, 200), 200, 300);
  RowSlab slab{.global_rows = 3'000'000'000,
               .global_cols = 3'000'000'000,
               .global_nnz = rows.nnz(),
               .first_row = kFirst + 200,
               .local = rows};
  for (const std::int32_t column : rows.col_idx) slab.wide_columns.push_back(kFirst + column);
  slab.local.col_idx.clear();
  const SplitRows high = split_rows(std::move(slab), kFirst + 200, kFirst + 300);
  EXPECT_EQ(high.local.row_ptr, low.local.row_ptr);
  EXPECT_EQ(high.local.col_idx, low.local.col_idx);
  EXPECT_EQ(high.local.values, low.local.values);
  EXPECT_EQ(high.ghost.col_idx, low.ghost.col_idx);
  ASSERT_EQ(high.ghost_columns.size(), low.ghost_columns.size());
  for (std::size_t g = 0; g < low.ghost_columns.size(); ++g)
    EXPECT_EQ(high.ghost_columns[g], kFirst + low.ghost_columns[g]);
}

}  // namespace
}  // namespace trireme
