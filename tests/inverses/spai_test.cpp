// SPDX-License-Identifier: BSD-3-Clause
// The sparse approximate inverse of any matrix against its definition, computed densely. Run on 1
// and 3 ranks.
#include "inverses/spai.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "inverses/least_squares_row.hpp"
#include "support/distributed_matrices.hpp"
#include "support/with_threads.hpp"

namespace trireme::inverses {
namespace {

using test::dense;
using test::Dense;
using test::distributed;
using test::generated;

Dense dense_inverse(const DistributedMatrix& a, const RowSlab& m) {
  return dense(a.comm, m.first_row, a.global_rows(), m.local);
}

// Nonsymmetric, with rows of varied size, a third of them without a diagonal.
double nonsymmetric(std::int64_t i, std::int64_t j) {
  const auto row = static_cast<std::uint64_t>(i);
  const double size = std::exp2(static_cast<double>(row % 5) * 4 - 8);
  if (i == j) return i % 3 == 1 ? 0 : 2 * size;
  if (j == i + 1 && i % 3 == 1) return 1.5 * size;
  if (j == i - 1 && i % 3 == 2) return 1.4 * size;
  const std::uint64_t chance = split_mix(row * 1000 + static_cast<std::uint64_t>(j), 3);
  return chance % 11 == 0 ? size * (to_unit(chance) - 0.5) : 0;
}

// m A - e_i of row i of M, with all columns of A.
std::vector<double> residual(const Dense& a, const Dense& m, std::size_t i) {
  std::vector<double> r(a.size(), 0.0);
  r[i] = -1;
  for (std::size_t j = 0; j < a.size(); ++j)
    for (std::size_t k = 0; k < a.size(); ++k) r[k] += m[i][j] * a[j][k];
  return r;
}

double norm(const std::vector<double>& r) {
  double sum = 0;
  for (const double value : r) sum += value * value;
  return std::sqrt(sum);
}

// What is left of a row is orthogonal to the rows of A in its pattern, as least squares are.
void expect_optimal(const Dense& a, const Dense& m, double tolerance = 1e-11) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<double> r = residual(a, m, i);
    EXPECT_LE(norm(r), 1 + 1e-12) << i;
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (m[i][j] == 0) continue;
      double product = 0;
      for (std::size_t k = 0; k < a.size(); ++k) product += r[k] * a[j][k];
      EXPECT_NEAR(product, 0, tolerance * norm(a[j])) << i << ", " << j;
    }
  }
}

// Also those of ghosts, of which this rank has a part.
TEST(ScaledRows, AreDividedByTheNormsOfWholeRows) {
  const auto a = distributed(MPI_COMM_WORLD, 90, nonsymmetric);
  const Dense matrix = dense(*a);
  const ScaledRows rows(*a, RowScaling::norms);
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    EXPECT_NEAR(rows.scale(i) * norm(matrix[rows.number(i)]), 1, 1e-14) << rows.number(i);
}

TEST(Spai, HasRowsThatAreOptimalForTheirPatterns) {
  for (const auto& a :
       {generated(MPI_COMM_SELF, "convection3d", 5), generated(MPI_COMM_SELF, "elasticity3d", 3),
        distributed(MPI_COMM_SELF, 90, nonsymmetric)})
    for (const std::int32_t steps : {1, 4, 10}) {
      const RowSlab m = make_spai(*a, {.steps = steps});
      expect_optimal(dense(*a), dense_inverse(*a, m));
      for (std::int64_t i = 0; i < m.local.rows; ++i)
        EXPECT_LE(m.local.row_ptr[i + 1] - m.local.row_ptr[i], 1 + steps * kEntriesPerStep);
    }
}

// Ranks leave out the columns beyond their ghosts, which costs some of it.
TEST(Spai, IsCloserToTheInverseTheMoreItGrows) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 6);
  const Dense matrix = dense(*a);
  double before = static_cast<double>(matrix.size()) / 8;
  for (const std::int32_t steps : {1, 2, 3}) {
    const Dense m = dense_inverse(*a, make_spai(*a, {.steps = steps}));
    double sum = 0;
    for (std::size_t i = 0; i < m.size(); ++i) sum += std::pow(norm(residual(matrix, m, i)), 2);
    EXPECT_LT(sum, before) << steps;
    before = sum;
  }
  EXPECT_LE(before, kSmallResidual * static_cast<double>(matrix.size()));
}

TEST(Spai, OfAPermutedDiagonalIsItsInverse) {
  const auto a = distributed(MPI_COMM_SELF, 9, [](std::int64_t i, std::int64_t j) {
    return j == (i + 4) % 9 ? static_cast<double>(i + 1) * (i % 2 == 0 ? 1 : -1) : 0.0;
  });
  const Dense m = dense_inverse(*a, make_spai(*a, {}));
  for (std::size_t i = 0; i < m.size(); ++i) EXPECT_NEAR(norm(residual(dense(*a), m, i)), 0, 1e-15);
}

// Row 0 of A is e_0 + e_1 + e_2, so that -2/3 at column 0 and 1/3 at columns 1 and 2 are left after
// it. Rows 1 to 3 have what is left at columns 1 and 2; rows 4 to 6 mix it with column 0. Each has
// a column of its own too.
TEST(Spai, RowsComeInThatAloneReduceTheResidualMost) {
  const std::vector<std::vector<double>> first = {{1, 1, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1},
                                                  {1, 1, 0}, {1, 0, 1}, {1, 1, 1}};
  const auto a = distributed(MPI_COMM_SELF, 14, [&](std::int64_t i, std::int64_t j) {
    if (i >= 7) return i == j ? 1.0 : 0.0;
    return j < 3 ? first[i][j] : i > 0 && j == i + 7 ? 0.2 : 0.0;
  });
  const ScaledRows rows(*a, RowScaling::norms);
  const ScaledColumns columns(rows);
  LeastSquaresRow row(rows, columns);
  row.grow(0, 1);
  ASSERT_EQ(row.entries().size(), 4u);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(row.entries()[k].first, static_cast<std::int32_t>(k));
}

TEST(LeastSquaresRow, KnowsNothingOfTheRowsBefore) {
  const ScaledRows a(*distributed(MPI_COMM_SELF, 120, nonsymmetric), RowScaling::norms);
  const ScaledColumns columns(a);
  LeastSquaresRow one(a, columns);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    LeastSquaresRow another(a, columns);
    one.grow(i, 10);
    another.grow(i, 10);
    EXPECT_TRUE(std::ranges::equal(one.entries(), another.entries())) << i;
  }
}

TEST(Spai, HasTheSameBitsForAnyNumberOfThreads) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 9);
  const RowSlab one = [&] {
    const trireme::test::WithThreads threads(1);
    return make_spai(*a, {});
  }();
  const trireme::test::WithThreads threads(3);
  const RowSlab three = make_spai(*a, {});
  EXPECT_EQ(one.local.col_idx, three.local.col_idx);
  EXPECT_EQ(one.local.values, three.local.values);
}

TEST(Spai, TakesNewValuesOnItsPattern) {
  const auto a = distributed(MPI_COMM_SELF, 90, nonsymmetric);
  RowSlab m = make_spai(*a, {});
  const Array<std::int32_t> pattern = m.local.col_idx;
  const Array<double> before = m.local.values;
  renew_spai(*a, m);
  for (std::size_t k = 0; k < before.size(); ++k)
    EXPECT_NEAR(m.local.values[k], before[k], 1e-9 * std::abs(before[k]) + 1e-12);
  Array<double> values = joined_rows(*a).values;
  for (std::size_t k = 0; k < values.size(); k += 3) values[k] *= 1.5;
  a->replace_values(values);
  renew_spai(*a, m);
  EXPECT_EQ(m.local.col_idx, pattern);
  expect_optimal(dense(*a), dense_inverse(*a, m), 1e-9);
}

TEST(Spai, ScalesWithTheMatrixFromTheSmallestToTheLargestNumbers) {
  const auto plain = distributed(MPI_COMM_WORLD, 60, nonsymmetric);
  const RowSlab expected = make_spai(*plain, {});
  for (const int exponent : {-900, 900}) {
    const auto a = distributed(MPI_COMM_WORLD, 60, [&](std::int64_t i, std::int64_t j) {
      return std::ldexp(nonsymmetric(i, j), exponent);
    });
    const RowSlab m = make_spai(*a, {});
    EXPECT_EQ(m.local.col_idx, expected.local.col_idx);
    for (std::size_t k = 0; k < m.local.values.size(); ++k)
      EXPECT_EQ(std::ldexp(m.local.values[k], exponent), expected.local.values[k]) << exponent;
  }
}

// Rows 0 and 1 are the same, and so are rows 2 and 3 but for rounding.
TEST(Spai, LeavesOutRowsThatDependOnOthers) {
  const auto a = distributed(MPI_COMM_WORLD, 24, [](std::int64_t i, std::int64_t j) {
    const std::int64_t row = i / 2 * 2;
    const double value = j == row ? 2.0 : std::abs(j - row) <= 2 ? 0.7 : 0.0;
    return i == 3 && j == 2 ? value * (1 + 1e-14) : value;
  });
  const RowSlab m = make_spai(*a, {});
  for (std::int64_t i = 0; i < m.local.rows; ++i) {
    double largest = 0;
    for (std::int32_t k = m.local.row_ptr[i]; k < m.local.row_ptr[i + 1]; ++k) {
      EXPECT_TRUE(std::isfinite(m.local.values[k]));
      largest = std::max(largest, std::abs(m.local.values[k]));
    }
    EXPECT_LE(largest, 1e6) << i;
    EXPECT_GT(largest, 0) << i;
  }
}

// An arrow whose first row and column are full, without a diagonal in its first row.
TEST(Spai, OfADenseRowTakesFewEntriesAndLittleTime) {
  const std::int64_t n = 60000;
  RowSlab slab{.global_rows = n, .global_cols = n, .first_row = 0};
  CsrMatrix<double>& local = slab.local;
  local = {.rows = n, .cols = n, .row_ptr = {0}, .col_idx = {}, .values = {}};
  const auto add = [&](std::int64_t column, double value) {
    local.col_idx.push_back(static_cast<std::int32_t>(column));
    local.values.push_back(value);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0)
      for (std::int64_t j = 1; j < n; ++j) add(j, 1);
    else
      for (const std::int64_t j : {std::int64_t{0}, i}) add(j, i == j ? 2 : 1);
    local.row_ptr.push_back(static_cast<std::int32_t>(local.values.size()));
  }
  slab.global_nnz = local.nnz();
  const auto a = distribute(MPI_COMM_SELF, std::move(slab), {0, n});
  const RowSlab m = make_spai(*a, {});
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_LE(m.local.row_ptr[i + 1] - m.local.row_ptr[i], 31) << i;
    double sum = 0;
    for (std::int32_t k = m.local.row_ptr[i]; k < m.local.row_ptr[i + 1]; ++k)
      sum += std::abs(m.local.values[k]);
    ASSERT_GT(sum, 0) << i;
  }
}

TEST(Spai, TakesMatricesWithoutRowsAndWithOne) {
  const auto none = distributed(MPI_COMM_WORLD, 0, nonsymmetric);
  EXPECT_EQ(make_spai(*none, {}).local.rows, 0);
  const auto one = distributed(MPI_COMM_WORLD, 1, [](std::int64_t, std::int64_t) { return -16.0; });
  const RowSlab m = make_spai(*one, {});
  for (const double value : m.local.values) EXPECT_EQ(value, -1.0 / 16);
  EXPECT_EQ(m.global_nnz, 1);
}

TEST(Spai, NamesARowThatIsZero) {
  for (const double value : {0.0, double{INFINITY}, double{NAN}}) {
    const auto a = distributed(MPI_COMM_WORLD, 12, [&](std::int64_t i, std::int64_t j) {
      return i == 7 ? (j == 7 ? value : 0.0) : std::abs(i - j) <= 1 ? 1.0 + 2.0 * (i == j) : 0.0;
    });
    std::string said;
    try {
      make_spai(*a, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      said = error.what();
    }
    EXPECT_NE(said.find("row 7 (from 0)"), std::string::npos) << value << said;
  }
}

}  // namespace
}  // namespace trireme::inverses
