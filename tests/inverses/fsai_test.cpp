// SPDX-License-Identifier: BSD-3-Clause
// The factor of the approximate inverse against its definition, computed densely. Run on 1 and 3
// ranks.
#include "inverses/fsai.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "inverses/growing_row.hpp"
#include "support/distributed_matrices.hpp"
#include "support/with_threads.hpp"

namespace trireme::inverses {
namespace {

using test::dense;
using test::Dense;
using test::distributed;
using test::generated;

RowSlab factor(const DistributedMatrix& a, std::int32_t steps = 10) {
  return make_fsai(a, ScaledRows(a), {.steps = steps});
}

Dense dense_factor(const DistributedMatrix& a, const RowSlab& g) {
  return dense(a.comm, g.first_row, a.global_rows(), g.local);
}

// Random, symmetric and positive definite, with a diagonal of varied size.
double varied(std::int64_t i, std::int64_t j) {
  const auto low = static_cast<std::uint64_t>(std::min(i, j));
  const auto high = static_cast<std::uint64_t>(std::max(i, j));
  const auto size = [](std::uint64_t k) { return std::exp2(static_cast<double>(k % 7) * 3 - 9); };
  const double both = size(low) * size(high);
  if (i == j) return both;
  const std::uint64_t chance = split_mix(low * 1000 + high, 3);
  return chance % 9 == 0 ? both * 0.13 * (to_unit(chance) - 0.7) : 0;
}

// G A G^T has a unit diagonal, and each row of G solves A(P, P) y = -A(P, i) up to its length.
void expect_definition(const Dense& a, const Dense& g, double tolerance = 1e-11) {
  const std::int64_t n = std::ssize(a);
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> ga(n, 0.0);  // row i of G A
    std::vector<double> size(n, 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
      if (g[i][j] == 0) continue;
      ASSERT_LE(j, i);
      for (std::int64_t k = 0; k < n; ++k) {
        ga[k] += g[i][j] * a[j][k];
        size[k] += std::abs(g[i][j] * a[j][k]);
      }
    }
    double gag = 0;
    for (std::int64_t j = 0; j < n; ++j) gag += ga[j] * g[i][j];
    EXPECT_NEAR(gag, 1, tolerance * 10) << i;
    EXPECT_GT(g[i][i], 0) << i;
    for (std::int64_t j = 0; j < i; ++j)
      if (g[i][j] != 0) {
        EXPECT_NEAR(ga[j], 0, tolerance * size[j]) << i << ", " << j;
      }
  }
}

TEST(Fsai, HasRowsThatAreOptimalForTheirPatterns) {
  for (const auto& a :
       {generated(MPI_COMM_WORLD, "poisson3d", 6), generated(MPI_COMM_WORLD, "elasticity3d", 3),
        distributed(MPI_COMM_WORLD, 90, varied)})
    for (const std::int32_t steps : {1, 4, 10}) {
      const RowSlab g = factor(*a, steps);
      expect_definition(dense(*a), dense_factor(*a, g));
      for (std::int64_t i = 0; i < g.local.rows; ++i)
        EXPECT_LE(g.local.row_ptr[i + 1] - g.local.row_ptr[i], 1 + steps * kEntriesPerStep);
    }
}

TEST(Fsai, OfATridiagonalMatrixIsItsInverseFactor) {
  const auto a = distributed(MPI_COMM_WORLD, 24, [](std::int64_t i, std::int64_t j) {
    return i == j ? 2.5 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  if (size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "ranks leave out what is beyond their ghosts";
  const Dense g = dense_factor(*a, factor(*a, 20)), matrix = dense(*a);
  // With enough steps nothing is left but what a step does not gain: G A G^T is nearly I.
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t j = 0; j < g.size(); ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < g.size(); ++k)
        for (std::size_t l = 0; l < g.size(); ++l) sum += g[i][k] * matrix[k][l] * g[j][l];
      EXPECT_NEAR(sum, i == j ? 1 : 0, 0.06) << i << ", " << j;
    }
}

TEST(Fsai, GrowsWhereTheGradientIsLargest) {
  // Row 3 has one strong and two weak neighbours.
  const auto a = distributed(MPI_COMM_SELF, 5, [](std::int64_t i, std::int64_t j) {
    if (i == j) return 1.0;
    const std::int64_t low = std::min(i, j), high = std::max(i, j);
    if (high != 4) return 0.0;
    return low == 0 ? 0.1 : low == 1 ? 0.5 : low == 2 ? -0.2 : 0.3;
  });
  const RowSlab g = factor(*a, 1);
  const Dense all = dense_factor(*a, g);
  EXPECT_EQ(all[4][0], 0);
  for (const int j : {1, 2, 3}) EXPECT_NE(all[4][j], 0) << j;
}

TEST(GrowingRow, KnowsNothingOfTheRowsBefore) {
  const ScaledRows a(*generated(MPI_COMM_SELF, "elasticity3d", 4));
  GrowingRow one(a);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    GrowingRow another(a);
    one.grow(i, 10);
    another.grow(i, 10);
    EXPECT_TRUE(std::ranges::equal(one.entries(), another.entries())) << i;
    EXPECT_EQ(one.last(), another.last()) << i;
  }
}

TEST(Fsai, HasTheSameBitsForAnyNumberOfThreads) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 5);
  const RowSlab one = [&] {
    const trireme::test::WithThreads threads(1);
    return factor(*a);
  }();
  const trireme::test::WithThreads threads(3);
  const RowSlab three = factor(*a);
  EXPECT_EQ(one.local.col_idx, three.local.col_idx);
  EXPECT_EQ(one.local.values, three.local.values);
}

TEST(Fsai, TakesNewValuesOnItsPattern) {
  const auto a = distributed(MPI_COMM_WORLD, 90, varied);
  RowSlab g = factor(*a);
  const Array<std::int32_t> pattern = g.local.col_idx;
  Array<double> values = joined_rows(*a).values;
  const CsrMatrix<double> rows = joined_rows(*a);
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int32_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
      if (rows.col_idx[k] == a->first_row() + i) values[k] *= 1.5;
  a->replace_values(values);
  renew_fsai(*a, ScaledRows(*a), g);
  EXPECT_EQ(g.local.col_idx, pattern);
  expect_definition(dense(*a), dense_factor(*a, g));
}

// Of rows 0 and 1, which become the same, row 2 keeps one entry; the other one has the number 0.
TEST(Fsai, RenewsARowOfWhichAnEntryCanNoLongerComeIn) {
  const auto made_of = [](double twin) {
    return [twin](std::int64_t i, std::int64_t j) {
      if (i == j) return 1.0;
      if (i + j == 1) return twin;
      return (i == 2) != (j == 2) ? 0.3 : 0.0;
    };
  };
  const auto a = distributed(MPI_COMM_WORLD, 8, made_of(0.5));
  RowSlab g = factor(*a);
  const Array<std::int32_t> pattern = g.local.col_idx;
  const auto twins = distributed(MPI_COMM_WORLD, 8, made_of(1 - 1e-14));
  a->replace_values(joined_rows(*twins).values);
  renew_fsai(*a, ScaledRows(*a), g);
  EXPECT_EQ(g.local.col_idx, pattern);
  const Dense renewed = dense_factor(*a, g);
  if (size_of(MPI_COMM_WORLD) == 1) {
    EXPECT_NE(renewed[2][0], 0);
    EXPECT_EQ(renewed[2][1], 0);
  }
  expect_definition(dense(*a), renewed);
}

TEST(Fsai, IsTransposedOverTheRanks) {
  const auto a = distributed(MPI_COMM_WORLD, 70, varied);
  const RowSlab g = factor(*a);
  const RowSlab t = transposed(*a, g);
  const Dense lower = dense_factor(*a, g), upper = dense_factor(*a, t);
  for (std::size_t i = 0; i < lower.size(); ++i)
    for (std::size_t j = 0; j < lower.size(); ++j) EXPECT_EQ(lower[i][j], upper[j][i]);
  for (std::int64_t i = 0; i < t.local.rows; ++i)
    EXPECT_TRUE(std::is_sorted(t.local.col_idx.begin() + t.local.row_ptr[i],
                               t.local.col_idx.begin() + t.local.row_ptr[i + 1]));
}

TEST(Fsai, ScalesWithTheMatrixFromTheSmallestToTheLargestNumbers) {
  const auto plain = distributed(MPI_COMM_WORLD, 60, varied);
  const RowSlab expected = factor(*plain);
  for (const int exponent : {-980, -400, 400, 980}) {
    const auto a = distributed(MPI_COMM_WORLD, 60, [&](std::int64_t i, std::int64_t j) {
      return std::ldexp(varied(i, j), exponent);
    });
    const RowSlab g = factor(*a);
    EXPECT_EQ(g.local.col_idx, expected.local.col_idx);
    for (std::size_t k = 0; k < g.local.values.size(); ++k)
      EXPECT_EQ(std::ldexp(g.local.values[k], exponent / 2), expected.local.values[k]) << exponent;
  }
}

TEST(Fsai, AddsDuplicatesUp) {
  RowSlab slab{.global_rows = 2, .global_cols = 2, .global_nnz = 6, .first_row = 0};
  slab.local = {.rows = 2,
                .cols = 2,
                .row_ptr = {0, 3, 6},
                .col_idx = {0, 1, 0, 1, 0, 1},
                .values = {1, -1, 1, 3, -1, 1}};
  const auto a = distribute(MPI_COMM_SELF, std::move(slab), {0, 2});
  expect_definition({{2, -1}, {-1, 4}}, dense_factor(*a, factor(*a)));
}

TEST(Fsai, LeavesOutEntriesWithoutAPositivePivot) {
  // Rows 0 and 1 are as good as the same; A is singular but for rounding.
  const auto twins = distributed(MPI_COMM_WORLD, 30, [](std::int64_t i, std::int64_t j) {
    return i == j ? 1.0 : i / 2 == j / 2 ? 1 - 1e-13 : std::abs(i - j) == 3 ? 0.1 : 0.0;
  });
  // Indefinite: the off-diagonal entries are larger than the diagonal.
  const auto indefinite = distributed(MPI_COMM_WORLD, 30, [](std::int64_t i, std::int64_t j) {
    return i == j ? 1.0 : std::abs(i - j) <= 2 ? -3.0 : 0.0;
  });
  for (const auto& a : {twins, indefinite}) {
    const RowSlab g = factor(*a);
    for (const double value : g.local.values) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_LE(std::abs(value), 1e6);
    }
    expect_definition(dense(*a), dense_factor(*a, g), 1e-5);
  }
}

TEST(Fsai, OfADenseRowTakesFewEntriesAndLittleTime) {
  // An arrow: the first and the last row are full.
  const std::int64_t n = 60000;
  RowSlab slab{.global_rows = n, .global_cols = n, .first_row = 0};
  CsrMatrix<double>& local = slab.local;
  local = {.rows = n, .cols = n, .row_ptr = {0}, .col_idx = {}, .values = {}};
  const auto add = [&](std::int64_t column, double value) {
    local.col_idx.push_back(static_cast<std::int32_t>(column));
    local.values.push_back(value);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || i == n - 1)
      for (std::int64_t j = 0; j < n; ++j) add(j, i == j ? 1e4 : 1);
    else
      for (const std::int64_t j : {std::int64_t{0}, i, n - 1}) add(j, i == j ? 2 : 1);
    local.row_ptr.push_back(static_cast<std::int32_t>(local.values.size()));
  }
  slab.global_nnz = local.nnz();
  const auto a = distribute(MPI_COMM_SELF, std::move(slab), {0, n});
  const RowSlab g = factor(*a);
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_LE(g.local.row_ptr[i + 1] - g.local.row_ptr[i], 31) << i;
}

TEST(Fsai, TakesMatricesWithoutRowsAndWithOne) {
  const auto none = distributed(MPI_COMM_WORLD, 0, varied);
  EXPECT_EQ(factor(*none).local.rows, 0);
  const auto one = distributed(MPI_COMM_WORLD, 1, [](std::int64_t, std::int64_t) { return 16.0; });
  const RowSlab g = factor(*one);
  for (const double value : g.local.values) EXPECT_EQ(value, 0.25);
  EXPECT_EQ(g.global_nnz, 1);
}

std::string refusal_of(double diagonal) {
  const auto a = distributed(MPI_COMM_WORLD, 12, [&](std::int64_t i, std::int64_t j) {
    return i != j ? (std::abs(i - j) == 1 ? -1.0 : 0.0) : i == 7 ? diagonal : 3.0;
  });
  try {
    factor(*a);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.what();
  }
  return "";
}

TEST(Fsai, NamesARowWhoseDiagonalIsNotPositive) {
  for (const double diagonal : {0.0, -2.0, double{INFINITY}, double{NAN}})
    EXPECT_NE(refusal_of(diagonal).find("row 7 (from 0)"), std::string::npos) << diagonal;
}

}  // namespace
}  // namespace trireme::inverses
