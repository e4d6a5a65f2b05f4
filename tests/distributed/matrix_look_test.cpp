// SPDX-License-Identifier: BSD-3-Clause
// A look at a matrix finds what was put into it, wherever the rows lie.
#include "distributed/matrix_look.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "distributed/matrix_on_ranks.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

using test::Cut;

CsrMatrix<double> made(const std::string& kind, std::int64_t n) {
  GenerateSpec spec;
  spec.kind = kind;
  spec.n = n;
  return generate(spec, 0, generator_shape(spec).rows).local;
}

// Of rows of numbers; a 0 is not stored.
CsrMatrix<double> dense(const std::vector<std::vector<double>>& rows) {
  CsrMatrix<double> a;
  a.rows = a.cols = std::ssize(rows);
  for (const std::vector<double>& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (row[column] == 0) continue;
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(row[column]);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

// The position of a_ij, which must be stored.
std::int64_t place(const CsrMatrix<double>& a, std::int64_t i, std::int64_t j) {
  for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
    if (a.col_idx[k] == j) return k;
  ADD_FAILURE() << "no entry " << i << ", " << j;
  return 0;
}

void for_each_cut(const CsrMatrix<double>& a,
                  const std::function<void(const DistributedMatrix& matrix)>& check) {
  for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
    check(*test::matrix_on_ranks(MPI_COMM_WORLD, a, cut));
}

void expect_words(const CsrMatrix<double>& a, const std::string& words) {
  for_each_cut(
      a, [&](const DistributedMatrix& matrix) { EXPECT_EQ(words_of(look_at(matrix)), words); });
}

TEST(MatrixLook, TellsWhatASolverLikes) {
  expect_words(made("poisson2d", 12),
               "symmetric, with a positive diagonal; every row is diagonally dominant");
  CsrMatrix<double> a = made("poisson2d", 12);
  for (double& value : a.values) value = -value;
  expect_words(a, "symmetric, with a negative diagonal; every row is diagonally dominant");
  expect_words(dense({{1, 3, 0}, {3, 1, 3}, {0, 3, 1}}), "symmetric, with a positive diagonal");
}

TEST(MatrixLook, TellsSymmetryExactlyAndNearly) {
  CsrMatrix<double> a = made("elasticity3d", 4);
  for_each_cut(
      a, [](const DistributedMatrix& matrix) { EXPECT_TRUE(look_at(matrix).symmetric_pattern); });
  a = made("poisson3d", 6);
  const std::int64_t one = place(a, 100, 101);
  a.values[one] = std::nextafter(a.values[one], 0);
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    const MatrixLook& look = look_at(matrix);
    EXPECT_TRUE(look.symmetric_pattern);
    EXPECT_FALSE(look.symmetric_values);
    EXPECT_TRUE(look.nearly_symmetric);
    EXPECT_TRUE(look.symmetric());
  });
  a.values[one] = -a.values[place(a, 101, 100)];  // the sign bit alone
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    const MatrixLook& look = look_at(matrix);
    EXPECT_TRUE(look.symmetric_pattern);
    EXPECT_FALSE(look.symmetric());
  });
  a.values[one] = -0.0;
  a.values[place(a, 101, 100)] = 0;
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    EXPECT_TRUE(look_at(matrix).symmetric_values) << "zeros of both signs are equal";
  });
}

TEST(MatrixLook, SeesSmallRowsBesideHugeOnes) {
  CsrMatrix<double> a = made("poisson2d", 12);
  a.values[place(a, 7, 7)] = 1e300;
  a.values[place(a, 40, 41)] = -5;
  for_each_cut(a,
               [](const DistributedMatrix& matrix) { EXPECT_FALSE(look_at(matrix).symmetric()); });
}

TEST(MatrixLook, EstimatesTheSkewPart) {
  const CsrMatrix<double> a = made("convection3d", 8);
  CsrMatrix<double> skew = a;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
      skew.values[k] = a.col_idx[k] < row ? -3 : a.col_idx[k] > row ? 3 : 0;
  for (const double scale : {1.0, 1e300, 1e-300}) {
    double squares = 0, of_skew = 0;
    CsrMatrix<double> b = a;
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
        const double mirror = a.values[place(a, a.col_idx[k], row)];
        squares += a.values[k] * a.values[k];
        of_skew += std::pow((a.values[k] - mirror) / 2, 2);
        b.values[k] *= scale;
      }
    const double expected = std::sqrt(of_skew / squares);
    for_each_cut(b, [&](const DistributedMatrix& matrix) {
      EXPECT_NEAR(look_at(matrix).skew, expected, 0.5 * expected) << scale;
    });
  }
  for_each_cut(skew, [](const DistributedMatrix& matrix) {
    EXPECT_GT(look_at(matrix).skew, 0.6);
    EXPECT_LE(look_at(matrix).skew, 1);
    EXPECT_EQ(look_at(matrix).zero_diagonal, 512);
  });
}

TEST(MatrixLook, CountsTheDiagonal) {
  CsrMatrix<double> a = made("poisson2d", 12);
  a.values[place(a, 30, 30)] = 0;
  a.values[place(a, 20, 20)] = 0;
  a.values[place(a, 50, 50)] = -4;
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    const MatrixLook& look = look_at(matrix);
    EXPECT_EQ(look.positive_diagonal, 141);
    EXPECT_EQ(look.negative_diagonal, 1);
    EXPECT_EQ(look.zero_diagonal, 2);
    EXPECT_EQ(look.first_zero_diagonal, 20);
    EXPECT_EQ(look.dominant_rows, 142);
  });
  expect_words(a,
               "symmetric, with zeros on the diagonal; 2 diagonal entries are zero or missing; 141 "
               "diagonal entries are positive, 1 negative");
  expect_words(dense({{0, 1}, {1, 0}}),
               "symmetric, with zeros on the diagonal; 2 diagonal entries are zero or missing");
}

TEST(MatrixLook, TellsSizesOfRowsAndColumns) {
  CsrMatrix<double> a = made("poisson2d", 12);
  for (std::int64_t k = a.row_begin(9); k < a.row_begin(10); ++k) a.values[k] *= 0x1p40;
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    const MatrixLook& look = look_at(matrix);
    EXPECT_EQ(look.row_sizes.greatest, 0x1p42);
    EXPECT_EQ(look.row_sizes.least, 4);
    EXPECT_EQ(look.row_sizes.powers_of_two(), 40);
    EXPECT_EQ(look_closer(matrix).column_sizes.greatest, 0x1p42);
    EXPECT_EQ(look_closer(matrix).column_sizes.least, 4);
  });
  CsrMatrix<double> b = made("poisson2d", 12);
  for (std::int64_t k = 0; k < b.nnz(); ++k)
    if (b.col_idx[k] == 9) b.values[k] *= 0x1p-40;
  for_each_cut(b, [](const DistributedMatrix& matrix) {
    EXPECT_EQ(look_at(matrix).row_sizes.powers_of_two(), 2) << "row 9 has size 1";
    EXPECT_EQ(look_closer(matrix).column_sizes.powers_of_two(), 40);
  });
}

// The largest entries of some columns lie in rows of other ranks.
TEST(MatrixLook, TellsSizesOfColumnsThatRanksShare) {
  CsrMatrix<double> a = made("poisson2d", 12);
  a.values.assign(a.values.size(), 0x1p-30);
  for (std::int64_t i = 12; i < a.rows; ++i) a.values[place(a, i, i - 12)] = 1;
  for (std::int64_t i = a.rows - 12; i < a.rows; ++i) a.values[place(a, i, i)] = 1;
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    EXPECT_EQ(look_closer(matrix).column_sizes.least, 1);
    EXPECT_EQ(look_closer(matrix).column_sizes.greatest, 1);
    EXPECT_EQ(look_at(matrix).row_sizes.least, 0x1p-30);
  });
}

TEST(MatrixLook, ReachesTheEndsOfTheRange) {
  CsrMatrix<double> a = made("convection3d", 5);
  for (std::int64_t k = a.row_begin(60); k < a.row_begin(61); ++k) a.values[k] *= 1e300;
  for (std::int64_t k = a.row_begin(70); k < a.row_begin(71); ++k) a.values[k] *= 1e-300;
  for_each_cut(a, [](const DistributedMatrix& matrix) {
    const MatrixLook& look = look_at(matrix);
    EXPECT_NEAR(look.row_sizes.powers_of_two(), 1993, 3);  // 600 decades
    EXPECT_FALSE(look.symmetric());
    EXPECT_TRUE(std::isfinite(look.skew));
  });
}

TEST(MatrixLook, FindsEmptyRowsAndColumnsAndSumsOfZero) {
  expect_words(dense({{1, 0, 2}, {0, 0, 0}, {3, 0, 1}}),
               "not symmetric, with zeros on the diagonal; the pattern is symmetric; the skew part "
               "is about 0.2 of A; 1 diagonal entry is zero or missing; 1 row has no nonzero");
  for_each_cut(dense({{1, 0, 2}, {0, 0, 0}, {3, 0, 1}}), [](const DistributedMatrix& matrix) {
    EXPECT_EQ(look_closer(matrix).empty_columns, 1);
    EXPECT_NE(words_of(look_closer(matrix)).find("1 column has no nonzero"), std::string::npos);
  });
  expect_words(
      dense({{2, -1, -1}, {-1, 2, -1}, {-1, -1, 2}}),
      "symmetric, with a positive diagonal; every row is diagonally dominant; the rows add up to "
      "zero, so that A is singular");
}

TEST(MatrixLook, OfAlmostNothing) {
  expect_words(dense({{-3}}),
               "symmetric, with a negative diagonal; every row is diagonally dominant");
  for_each_cut(dense({}), [](const DistributedMatrix& matrix) {
    EXPECT_EQ(words_of(look_at(matrix)), "symmetric, with no rows");
    EXPECT_EQ(look_closer(matrix).repeated_rows, 0);
  });
}

TEST(MatrixLook, FollowsTheValues) {
  const CsrMatrix<double> a = made("poisson2d", 12);
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const MatrixLook* const first = &look_at(*matrix);
  EXPECT_EQ(&look_at(*matrix), first) << "it is remembered";
  const std::int64_t row = matrix->first_row(), end = row + matrix->local_rows();
  Array<double> values(a.values.begin() + a.row_begin(row), a.values.begin() + a.row_begin(end));
  if (row == 0 && !values.empty()) values[1] = 7;
  matrix->replace_values(values);
  EXPECT_FALSE(look_at(*matrix).symmetric());
}

TEST(CloserLook, FindsRepeatedRowsAndBlocks) {
  CsrMatrix<double> a = made("poisson2d", 12);
  for_each_cut(
      a, [](const DistributedMatrix& matrix) { EXPECT_EQ(words_of(look_closer(matrix)), ""); });
  const CsrMatrix<double> b = dense(
      {{1, 2, 0, 4}, {0, 3, 3, 0}, {1, 2, 0, 4}, {0, 3, 3, 0}, {}, {}, {1, 2, 0, 4}, {1, 2, 4, 0}});
  for_each_cut(b, [](const DistributedMatrix& matrix) {
    const CloserLook look = look_closer(matrix);
    EXPECT_EQ(look.repeated_rows, 3);
    EXPECT_EQ(words_of(look),
              "3 rows repeat others, so that A is singular; its structural rank is 4 of 8, so that "
              "A is singular; 4 columns have no nonzero");
  });
  for_each_cut(made("elasticity3d", 4), [](const DistributedMatrix& matrix) {
    const CloserLook look = look_closer(matrix);
    EXPECT_EQ(look.block_size, 3);
    EXPECT_GE(look.rows_in_blocks, 180);
    EXPECT_EQ(words_of(look), "rows in blocks of 3");
  });
}

}  // namespace
}  // namespace trireme
