// SPDX-License-Identifier: BSD-3-Clause
// Counts by hand: a small matrix cell by cell, a large one cell by cell of several rows, and
// blocks whose counts add up.
#include "sparse/pattern_counts.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sparse/csr.hpp"

namespace trireme {
namespace {

using Counts = std::vector<std::int64_t>;

// Row i has the columns i - 1 (where it exists) and i.
CsrMatrix<double> bidiagonal(std::int32_t rows) {
  CsrMatrix<double> a{rows, rows, {0}, {}, {}};
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = std::max(row - 1, 0); column <= row; ++column) {
      a.col_idx.push_back(column);
      a.values.push_back(1);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

TEST(PatternCounts, OfASmallMatrixAreItsNonzeros) {
  const auto a = bidiagonal(3);
  PatternCounts counts(3, 3);
  counts.add_nonzeros(a.view(), 0, 0);
  EXPECT_EQ(counts.cells, 3);
  EXPECT_EQ(counts.density, (Counts{1, 0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(PatternCounts, OfALargeMatrixAreSumsOfEqualCells) {
  constexpr std::int32_t rows = 10 * 64;
  const auto a = bidiagonal(rows);
  PatternCounts counts(rows, rows);
  counts.add_nonzeros(a.view(), 0, 0);
  ASSERT_EQ(counts.cells, 64);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      EXPECT_EQ(counts.density[64 * i + j], i == j ? 19 : i == j + 1 ? 1 : 0) << i << " " << j;
}

// Rows 2 and 3 of 4: a local block of the columns 2 and 3, a ghost block of the columns 0 and 1.
TEST(PatternCounts, OfBlocksAreAtTheirPlacesInTheMatrix) {
  const CsrMatrix<double> local{2, 2, {0, 1, 1}, {1}, {1.0}};
  const CsrMatrix<double> ghost{2, 1, {0, 1, 1}, {0}, {1.0}};
  const std::vector<std::int64_t> ghost_columns = {1};
  PatternCounts counts(4, 4);
  counts.add_nonzeros(local.view(), 2, 2);
  counts.add_nonzeros(ghost.view(), 2, 0, ghost_columns);
  EXPECT_EQ(counts.density, (Counts{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}));
  counts.add_row_lengths(local.view(), ghost.view());
  EXPECT_EQ(counts.row_lengths[0], 1);  // row 3
  EXPECT_EQ(counts.row_lengths[2], 1);  // row 2 has two nonzeros
  EXPECT_EQ(std::accumulate(counts.row_lengths.begin(), counts.row_lengths.end(), 0), 2);
}

TEST(PatternCounts, OfAMatrixWithoutRowsAreEmpty) {
  const CsrMatrix<double> none{0, 0, {0}, {}, {}};
  PatternCounts counts(0, 0);
  counts.add_nonzeros(none.view(), 0, 0);
  EXPECT_TRUE(counts.density.empty());
}

}  // namespace
}  // namespace trireme
