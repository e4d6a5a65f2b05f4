// SPDX-License-Identifier: BSD-3-Clause
// Tests the statistics of matrices that can be counted by hand, and of the edge shapes.
#include "sparse/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sparse/generators.hpp"
#include "sparse/row_facts.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

//  [ 2 . 1 ]
//  [ . . . ]
//  [ 1 5-3 ]    stored as columns 2 1 0 in the last row: unsorted
CsrMatrix<double> by_hand() { return {3, 3, {0, 2, 2, 5}, {0, 2, 2, 1, 0}, {2, 1, -3, 5, 1}}; }

TEST(Statistics, AreRightByHand) {
  const MatrixStatistics s = matrix_statistics(by_hand());
  EXPECT_EQ(s.nnz, 5);
  EXPECT_EQ(s.row_lengths.min, 0);
  EXPECT_EQ(s.row_lengths.max, 3);
  EXPECT_EQ(s.row_lengths.median, 2);
  EXPECT_EQ(s.row_lengths.empty_rows, 1);
  EXPECT_DOUBLE_EQ(s.row_lengths.mean, 5.0 / 3);
  EXPECT_NEAR(s.row_lengths.standard_deviation, std::sqrt(14.0 / 9), 1e-15);
  EXPECT_EQ(s.lower_bandwidth, 2);
  EXPECT_EQ(s.upper_bandwidth, 2);
  EXPECT_FALSE(s.sorted_columns);
  EXPECT_EQ(s.largest_magnitude, 5);
  ASSERT_TRUE(s.symmetry);
  EXPECT_EQ(s.symmetry->unmatched_entries, 1);  // (2, 1)
  EXPECT_EQ(s.symmetry->largest_difference, 5);
}

TEST(RowFacts, AreRightByHand) {
  const RowFacts facts = row_facts(by_hand());
  EXPECT_EQ(facts.positive, 1);
  EXPECT_EQ(facts.negative, 1);
  EXPECT_EQ(facts.zero, 1);
  EXPECT_EQ(facts.empty, 1);
  EXPECT_EQ(facts.dominant, 2);  // the empty row counts: 0 >= 0
  EXPECT_EQ(facts.with_sum, 2);
  EXPECT_EQ(facts.least, 2);
  EXPECT_EQ(facts.greatest, 5);
  EXPECT_NE(facts.pattern, 0u);
  EXPECT_NE(facts.values, 0u);
  const CsrMatrix<double> wide{1, 3, {0, 2}, {1, 2}, {-7, 7}};
  EXPECT_EQ(row_facts(wide).greatest, 7);
  EXPECT_EQ(row_facts(wide).with_sum, 0);
}

TEST(Statistics, SeeADifferenceOfOneBitInSymmetry) {
  CsrMatrix<double> a = generate({.kind = "poisson2d", .n = 30}, 0, 900).local;
  EXPECT_TRUE(matrix_statistics(a).symmetry->values());
  a.values[1] = std::nextafter(a.values[1], 0);
  const auto symmetry = matrix_statistics(a).symmetry;
  EXPECT_TRUE(symmetry->pattern());
  EXPECT_FALSE(symmetry->values());
}

TEST(Statistics, SumEntriesThatOccurTwice) {
  const CsrMatrix<double> a{2, 2, {0, 2, 3}, {1, 1, 0}, {2, 3, 5}};
  const MatrixStatistics s = matrix_statistics(a);
  EXPECT_FALSE(s.sorted_columns);
  EXPECT_TRUE(s.symmetry->values());
}

TEST(Statistics, TakeEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    const MatrixStatistics s = matrix_statistics(shape.matrix);
    EXPECT_EQ(s.nnz, shape.matrix.nnz()) << shape.name;
    EXPECT_EQ(s.symmetry.has_value(), s.rows == s.cols) << shape.name;
    EXPECT_LE(s.row_lengths.min, s.row_lengths.p05) << shape.name;
    EXPECT_LE(s.row_lengths.p99, s.row_lengths.max) << shape.name;
  }
}

// Entry (0, 2) has no transposed entry, although row 2 has entries beyond column 0. The transposed
// entry of (2, 1) has another value.
TEST(Statistics, AMirrorIsAnEntryOfTheSameColumn) {
  const CsrMatrix<double> a{3, 3, {0, 2, 4, 6}, {0, 2, 1, 2, 1, 2}, {1, 7, 1, 3, 5, 1}};
  const MatrixStatistics s = matrix_statistics(a);
  EXPECT_EQ(s.symmetry->unmatched_entries, 1);
  EXPECT_EQ(s.symmetry->largest_difference, 7);
}

// Entry (0, 1) is stored as one number, and entry (1, 0) as 100 numbers that add up to the same.
TEST(Statistics, DuplicatesAreAddedBeforeSymmetryIsJudged) {
  CsrMatrix<double> a{2, 2, {0, 1, 101}, {1}, {50}};
  a.col_idx.insert(a.col_idx.end(), 100, 0);
  a.values.insert(a.values.end(), 100, 0.5);
  const MatrixStatistics s = matrix_statistics(a);
  EXPECT_TRUE(s.symmetry->pattern());
  EXPECT_TRUE(s.symmetry->values()) << s.symmetry->largest_difference;
}

TEST(Statistics, PercentilesAreNearestRank) {
  Array<std::int32_t> row_ptr{0};
  for (int row = 1; row <= 100; ++row) row_ptr.push_back(row_ptr.back() + (row * 37) % 101);
  const RowLengthStatistics s = row_length_statistics(row_ptr);  // the lengths are 1..100
  EXPECT_EQ(s.p05, 5);
  EXPECT_EQ(s.median, 50);
  EXPECT_EQ(s.p99, 99);
  EXPECT_EQ(s.max, 100);
}

TEST(RankShares, CountGhostsOfAStencil) {
  const CsrMatrix<double> a = generate({.kind = "poisson2d", .n = 40}, 0, 1600).local;
  const std::vector<RankShare> shares = rank_shares(a, 4);
  std::int64_t rows = 0, nnz = 0;
  for (const RankShare& share : shares) {
    rows += share.rows;
    nnz += share.nnz;
    EXPECT_NEAR(static_cast<double>(share.nnz), static_cast<double>(a.nnz()) / 4, 50);
  }
  EXPECT_EQ(rows, 1600);
  EXPECT_EQ(nnz, a.nnz());
  EXPECT_EQ(shares[0].ghosts, 40);  // the rank has one neighbour, across one line of the grid
  EXPECT_EQ(shares[1].ghosts, 80);
}

TEST(RankShares, TakeEveryShapeAndMoreRanksThanRows) {
  for (const auto& shape : contract_shapes<double>())
    for (const int ranks : {1, 3, 100}) {
      std::int64_t nnz = 0;
      for (const RankShare& share : rank_shares(shape.matrix, ranks)) nnz += share.nnz;
      EXPECT_EQ(nnz, shape.matrix.nnz()) << shape.name;
    }
}

}  // namespace
}  // namespace trireme::test
