// SPDX-License-Identifier: BSD-3-Clause
// Tests matchings by their dual variables, which prove that no other matching has a larger product.
#include "sparse/transversal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

using Rows = std::vector<std::vector<double>>;

CsrMatrix<double> empty(std::int64_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  return a;
}

// 0 stands for an entry that is not stored.
CsrMatrix<double> from_rows(const Rows& rows) {
  CsrMatrix<double> a = empty(std::ssize(rows));
  a.cols = std::ssize(rows.at(0));
  for (const std::vector<double>& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0) {
        a.col_idx.push_back(static_cast<std::int32_t>(j));
        a.values.push_back(row[j]);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

void expect_permutation(std::vector<std::int32_t> columns, std::int64_t n) {
  std::ranges::sort(columns);
  std::vector<std::int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(columns, all);
}

// Every scaled entry is at most 1, and every row has one of size 1 in its own column.
void expect_best(const CsrView<double>& a, const Transversal& t) {
  constexpr double kRounding = 1e-9;  // in log2
  ASSERT_TRUE(t.is_perfect());
  EXPECT_EQ(t.structure.rank, a.rows);
  expect_permutation(t.column_of_row, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double of_match = -INFINITY;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const double scaled =
          std::log2(std::abs(a.values[k])) + t.row_log2[i] + t.column_log2[a.col_idx[k]];
      ASSERT_LE(scaled, kRounding) << "row " << i << ", column " << a.col_idx[k];
      if (a.col_idx[k] == t.column_of_row[i]) of_match = std::max(of_match, scaled);
    }
    ASSERT_GE(of_match, -kRounding) << "row " << i;
  }
}

// A permutation of large entries among smaller ones, with rows and columns of sizes up to 1e300.
CsrMatrix<double> planted(std::int64_t n, std::vector<std::int32_t>& columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> size(0.01, 0.4), scale(-140, 140);
  columns.resize(n);
  std::iota(columns.begin(), columns.end(), 0);
  std::ranges::shuffle(columns, random);
  std::vector<double> of_row(n), of_column(n);
  for (double& log10 : of_row) log10 = scale(random);
  for (double& log10 : of_column) log10 = scale(random);
  CsrMatrix<double> a = matrix_with_row_lengths<double>(
      random_lengths(n, 1, std::min<std::int64_t>(9, n), seed), n, seed, Columns::unsorted);
  CsrMatrix<double> with = empty(n);
  const auto add = [&](std::int64_t i, std::int32_t j, double value) {
    with.col_idx.push_back(j);
    with.values.push_back(value * std::pow(10, of_row[i] + of_column[j]));
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] != columns[i]) add(i, a.col_idx[k], size(random));
    add(i, columns[i], i % 2 == 0 ? 1 : -1);
    with.row_ptr.push_back(static_cast<std::int32_t>(with.col_idx.size()));
  }
  return with;
}

TEST(Transversal, FindsPlantedPermutationsInAnyScale) {
  for (const std::int64_t n : {1, 2, 3, 10, 400, 3000}) {
    std::vector<std::int32_t> columns;
    const CsrMatrix<double> a = planted(n, columns, n);
    const Transversal t = maximum_product_transversal(a.view());
    EXPECT_EQ(t.column_of_row, columns) << n;
    expect_best(a.view(), t);
    EXPECT_EQ(structural_rank(a.view()).rank, n);
  }
}

// Random values, so that most rows want the same columns and paths become long.
TEST(Transversal, HasTheLargestProductOfRandomMatrices) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::int64_t n = 5 + static_cast<std::int64_t>(seed) * 7;
    CsrMatrix<double> a = matrix_with_row_lengths<double>(random_lengths(n, 2, 6, seed), n, seed);
    const Transversal t = maximum_product_transversal(a.view());
    EXPECT_EQ(t.structure.rank, structural_rank(a.view()).rank) << seed;
    if (t.is_perfect()) expect_best(a.view(), t);
  }
}

TEST(Transversal, TakesWhatEachRowCanSpareLeast) {
  // Both rows are largest in column 0. The product 3 * 5 is larger than 4 * 1.
  const Transversal t = maximum_product_transversal(from_rows({{4, 3}, {5, 1}}).view());
  EXPECT_EQ(t.column_of_row, (std::vector<std::int32_t>{1, 0}));
  // Now 4 * 2 is larger than 3 * 2.5.
  const Transversal other = maximum_product_transversal(from_rows({{4, 3}, {2.5, 2}}).view());
  EXPECT_EQ(other.column_of_row, (std::vector<std::int32_t>{0, 1}));
}

TEST(Transversal, TakesTheExtremesOfDouble) {
  for (const double size : {5e-324, 1e-300, 1e300, 1.7e308}) {
    const CsrMatrix<double> a = from_rows({{size, 1, 0}, {1, size, 3}, {0, -size, 2}});
    expect_best(a.view(), maximum_product_transversal(a.view()));
  }
}

// Entries of one place count by the largest of them.
// A convection on a line, whose rows and columns are scaled by 10^-100 to 10^100. All duals that
// prove the matching are near these scales, or drift from them by up to 2^3 per row.
TEST(Transversal, KeepsNearTheScalesOfAChain) {
  constexpr std::int64_t n = 60;
  const auto scale = [](std::int64_t i, std::int64_t step) {
    return std::pow(10, 5 * static_cast<double>(i * step % 41) - 100);
  };
  Rows rows(n, std::vector<double>(n, 0.0));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(n, i + 2); ++j)
      rows[i][j] = scale(i, 7) * (j < i ? -1.6 : j > i ? -0.3 : 2.1) * scale(j, 11);
  const CsrMatrix<double> a = from_rows(rows);
  const Transversal t = maximum_product_transversal(a.view());
  expect_best(a.view(), t);
  double least = INFINITY, most = -INFINITY;
  for (std::int64_t i = 0; i < n; ++i) {
    const double drift = t.row_log2[i] + std::log2(scale(i, 7));
    least = std::min(least, drift);
    most = std::max(most, drift);
  }
  EXPECT_LE(most - least, 40);
}

TEST(Transversal, TakesDuplicateEntries) {
  const CsrMatrix<double> a{2, 2, {0, 3, 5}, {0, 0, 1, 1, 0}, {1, 8, 2, 3, 1}};
  expect_best(a.view(), maximum_product_transversal(a.view()));
}

TEST(Transversal, NamesRowsThatCannotBeMatched) {
  // Rows 0, 1 and 3 have entries in two columns only.
  const CsrMatrix<double> a = from_rows({{1, 2, 0, 0}, {3, 4, 0, 0}, {1, 1, 1, 1}, {5, 6, 0, 0}});
  for (const StructuralRank& found :
       {structural_rank(a.view()), maximum_product_transversal(a.view()).structure}) {
    EXPECT_EQ(found.rank, 3);
    ASSERT_EQ(found.unmatched_rows.size(), 1);
    EXPECT_NE(found.unmatched_rows[0], 2);
  }
  const Transversal t = maximum_product_transversal(a.view());
  expect_permutation(t.column_of_row, 4);
}

TEST(Transversal, LeavesUnmatchedRowsTheirOwnColumns) {
  const Transversal t =
      maximum_product_transversal(from_rows({{0, 2, 0}, {0, 0, 0}, {0, 3, 0}}).view());
  EXPECT_EQ(t.structure.rank, 1);
  // Row 0 has the only column with entries, row 2 its own one, and row 1 what is left.
  EXPECT_EQ(t.column_of_row, (std::vector<std::int32_t>{1, 0, 2}));
}

TEST(Transversal, CountsZerosAndEmptyRowsAsAbsent) {
  CsrMatrix<double> a = from_rows({{1, 2}, {3, 4}});
  a.values = {1, 0, 3, 0};
  EXPECT_EQ(structural_rank(a.view()).rank, 1);
  EXPECT_EQ(structural_rank(from_rows({{0, 0}, {3, 4}}).view()).unmatched_rows,
            std::vector<std::int32_t>{0});
  EXPECT_EQ(structural_rank(from_rows({{0}}).view()).rank, 0);
  EXPECT_EQ(structural_rank(from_rows({{-2}}).view()).rank, 1);
  EXPECT_EQ(maximum_product_transversal(empty(0).view()).structure.rank, 0);
}

// Depth-first paths of many exchanges: row i has the columns i-1 and i, and row 0 only the last.
TEST(Transversal, FollowsLongPaths) {
  constexpr std::int32_t n = 5000;
  CsrMatrix<double> a = empty(n);
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) a.col_idx.push_back(i - 1);
    if (i > 0) a.col_idx.push_back(i);
    if (i == 0) a.col_idx.push_back(n - 1);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  a.values.resize(a.col_idx.size(), 1.0);
  EXPECT_EQ(structural_rank(a.view()).rank, n);
  expect_best(a.view(), maximum_product_transversal(a.view()));
}

TEST(Transversal, RefusesWhatHasNoMatching) {
  EXPECT_THROW(structural_rank(from_rows({{1, 2, 3}, {4, 5, 6}}).view()), Error);
  EXPECT_THROW(maximum_product_transversal(from_rows({{1, 2, 3}, {4, 5, 6}}).view()), Error);
  EXPECT_THROW(maximum_product_transversal(from_rows({{1, NAN}, {4, 5}}).view()), Error);
  EXPECT_THROW(structural_rank(from_rows({{1, 2}, {INFINITY, 5}}).view()), Error);
}

}  // namespace
}  // namespace trireme::test
