// SPDX-License-Identifier: BSD-3-Clause
// Dense inverses and pseudo-inverses keep their identities.
#include "multigrid/set_up/dense_inverse.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "multigrid/dense.hpp"
#include "multigrid/set_up/semidefinite_elimination.hpp"
#include "support/random.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

using test::DenseMatrix;
using test::difference;

DenseMatrix dense(const DenseInverse& x) {
  DenseMatrix result(x.rows, x.rows);
  std::copy(x.values.begin(), x.values.end(), result.values.begin());
  return result;
}

// The path of n points whose ends are free: constants are its null space.
CsrMatrix<double> free_path(std::int32_t n, double scale = 1) {
  std::vector<test::Entry> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -scale});
    entries.push_back({i, i, (i == 0 || i == n - 1 ? 1 : 2) * scale});
    if (i + 1 < n) entries.push_back({i, i + 1, -scale});
  }
  return test::matrix_of(n, n, entries);
}

TEST(DenseInverse, OfARegularMatrixIsItsInverseAndSymmetric) {
  const auto a = test::generated("poisson2d", 12);
  const DenseInverse x = dense_inverse(a.view());
  EXPECT_EQ(x.rank, 144);
  DenseMatrix identity(144, 144);
  for (int i = 0; i < 144; ++i) identity(i, i) = 1;
  EXPECT_LT(difference(DenseMatrix(a.view()) * dense(x), identity), 1e-13);
  EXPECT_EQ(difference(dense(x), dense(x).transposed()), 0);
}

// G G^T with random rows of G that have `rank` numbers each.
ScaledMatrix semidefinite(std::int64_t n, std::int64_t rank) {
  const auto g = [=](std::int64_t i, std::int64_t k) {
    return 2 * to_unit(split_mix(i * rank + k, static_cast<std::uint64_t>(n))) - 1;
  };
  std::vector<test::Entry> entries;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < rank; ++k) sum += g(i, k) * g(j, k);
      entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), sum});
    }
  return scaled_dense(test::matrix_of(n, n, entries).view());
}

DenseMatrix dense(Elimination& e) {
  DenseMatrix result(e.n, e.n);
  std::copy(e.values.begin(), e.values.end(), result.values.begin());
  return result;
}

// M with the rows and columns of e in their order, of which the first e.rank ones have been
// eliminated.
DenseMatrix eliminated(const DenseMatrix& m, const Elimination& e) {
  Elimination plain{.n = e.n, .values = Array<double>(e.n * e.n), .rows{}, .cols{}};
  for (std::int64_t p = 0; p < e.n; ++p)
    for (std::int64_t q = 0; q < e.n; ++q)
      plain.row(p)[q] = static_cast<double>(m(e.rows[p], e.cols[q]));
  for (std::int64_t k = 0; k < e.rank; ++k) {
    const double pivot = plain.row(k)[k];
    for (std::int64_t j = 0; j < e.n; ++j)
      plain.row(k)[j] = j == k ? 1 / pivot : plain.row(k)[j] / pivot;
    for (std::int64_t i = 0; i < e.n; ++i) {
      if (i == k) continue;
      const double factor = plain.row(i)[k];
      plain.row(i)[k] = 0;
      for (std::int64_t j = 0; j < e.n; ++j) plain.row(i)[j] -= factor * plain.row(k)[j];
    }
  }
  return dense(plain);
}

TEST(DenseInverse, EliminatesASemidefiniteMatrixAsAnyOther) {
  for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 15, 16, 17, 33, 70})
    for (const std::int64_t rank : {std::int64_t{1}, n / 2, n - 1, n}) {
      if (rank < 1) continue;
      SCOPED_TRACE(std::to_string(n) + " rows of rank " + std::to_string(rank));
      ScaledMatrix m = semidefinite(n, rank);
      const DenseMatrix before = dense(m.elimination);
      ASSERT_TRUE(m.symmetric);
      ASSERT_TRUE(eliminate_semidefinite(m.elimination));
      EXPECT_EQ(m.elimination.rank, rank);
      EXPECT_EQ(m.elimination.rows, m.elimination.cols);
      const DenseMatrix expected = eliminated(before, m.elimination);
      double largest = 1;
      for (const long double value : expected.values)
        largest = std::max(largest, static_cast<double>(std::abs(value)));
      EXPECT_LT(difference(dense(m.elimination), expected), 1e-13 * largest * largest);
    }
}

TEST(DenseInverse, IsSymmetricWhereTheMatrixIsButForRounding) {
  const auto a = test::matrix_of(3, 3,
                                 {{0, 0, 4.0},
                                  {0, 1, -1.0},
                                  {0, 2, 3e-15},
                                  {1, 0, -1.0},
                                  {1, 1, 4.0},
                                  {1, 2, -1.0},
                                  {2, 0, 1e-15},
                                  {2, 1, -1.0},
                                  {2, 2, 4.0}});
  EXPECT_TRUE(scaled_dense(a.view()).symmetric);
  const DenseInverse x = dense_inverse(a.view());
  EXPECT_EQ(difference(dense(x), dense(x).transposed()), 0);
  const auto skew = test::matrix_of(2, 2, {{0, 0, 1.0}, {0, 1, 2e-12}, {1, 1, 1.0}});
  EXPECT_FALSE(scaled_dense(skew.view()).symmetric);
  const auto tiny = test::matrix_of(2, 2, {{0, 1, 2e-100}, {1, 0, 1e-100}});
  EXPECT_FALSE(scaled_dense(tiny.view()).symmetric) << "no diagonal to compare with";
}

TEST(DenseInverse, LeavesAnIndefiniteMatrixToCompletePivoting) {
  for (const std::int64_t n : {2, 20, 40}) {
    ScaledMatrix m = semidefinite(n, n);
    const std::int64_t last = n - 1;
    m.elimination.row(last)[last] -= 3;
    const Array<double> before = m.elimination.values;
    EXPECT_FALSE(eliminate_semidefinite(m.elimination));
    EXPECT_EQ(m.elimination.values, before);
  }
  const auto exchange = test::matrix_of(2, 2, {{0, 1, 1.0}, {1, 0, 1.0}});
  const DenseInverse x = dense_inverse(exchange.view());
  EXPECT_EQ(x.rank, 2);
  EXPECT_EQ(x.values, (Array<double>{0, 1, 1, 0}));
}

TEST(DenseInverse, OfANonsymmetricMatrixNeedsPivots) {
  // The last row's diagonal is 0, and pivots must be sought.
  const auto a = test::matrix_of(
      3, 3, {{0, 0, 1e-3}, {0, 1, 2.0}, {1, 0, 3.0}, {1, 2, 1.0}, {2, 0, -1.0}, {2, 1, 4.0}});
  const DenseInverse x = dense_inverse(a.view());
  EXPECT_EQ(x.rank, 3);
  DenseMatrix identity(3, 3);
  for (int i = 0; i < 3; ++i) identity(i, i) = 1;
  EXPECT_LT(difference(dense(x) * DenseMatrix(a.view()), identity), 1e-14);
}

TEST(DenseInverse, OfASingularMatrixIsASymmetricPseudoInverse) {
  const auto path = free_path(60);
  const DenseInverse x = dense_inverse(path.view());
  EXPECT_EQ(x.rank, 59);
  const DenseMatrix a(path.view());
  EXPECT_LT(difference(a * dense(x) * a, a), 1e-12);
  EXPECT_LT(difference(dense(x) * a * dense(x), dense(x)), 1e-10);
  EXPECT_EQ(difference(dense(x), dense(x).transposed()), 0);
  for (int i = 0; i < 60; ++i) EXPECT_GT(dense(x)(i, i), 0);
}

// The rows and columns are scaled by the roots of the diagonal, in which the null vectors are
// orthogonal.
TEST(DenseInverse, OfASingularNonsymmetricMatrixTellsLeftFromRight) {
  const auto a = test::matrix_of(2, 2, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 2.0}, {1, 1, 2.0}});
  const DenseInverse x = dense_inverse(a.view());
  EXPECT_EQ(x.rank, 1);
  const double expected[] = {2.0 / 9, 2.0 / 9, 1.0 / 9, 1.0 / 9};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(x.values[k], expected[k], 1e-15) << k;
  // The upwind stencil on a circle: constants on the right, the flow on the left.
  std::vector<test::Entry> entries;
  const std::int32_t n = 12;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 1.0 + i});
    entries.push_back({i, (i + 1) % n, -1.0 - i});
  }
  const auto circle = test::matrix_of(n, n, entries);
  const DenseInverse y = dense_inverse(circle.view());
  EXPECT_EQ(y.rank, n - 1);
  const DenseMatrix m(circle.view()), g = dense(y);
  EXPECT_LT(difference(m * g * m, m), 1e-13);
  EXPECT_LT(difference(g * m * g, g), 1e-13);
}

TEST(DenseInverse, KnowsTheRankOfSeveralSingularPartsOfDifferentScales) {
  std::vector<test::Entry> entries;
  std::int32_t first = 0;
  for (const double scale : {1.0, 1e-200, 1e250}) {
    const auto part = free_path(20, scale);
    for (std::int32_t i = 0; i < 20; ++i)
      for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k)
        entries.push_back({first + i, first + part.col_idx[k], part.values[k]});
    first += 20;
  }
  const auto a = test::matrix_of(60, 60, entries);
  const DenseInverse x = dense_inverse(a.view());
  EXPECT_EQ(x.rank, 57);
  for (const double value : x.values) EXPECT_TRUE(std::isfinite(value));
}

TEST(DenseInverse, OfZeroIsZeroAndOfNothingNothing) {
  const auto zero = test::matrix_of(3, 3, {{1, 1, 0.0}});
  const DenseInverse x = dense_inverse(zero.view());
  EXPECT_EQ(x.rank, 0);
  EXPECT_EQ(x.values, Array<double>(9, 0.0));
  const auto nothing = test::matrix_of(0, 0, {});
  EXPECT_EQ(dense_inverse(nothing.view()).values.size(), 0u);
}

TEST(DenseInverse, RefusesNumbersThatAreNotFinite) {
  const auto a = test::matrix_of(2, 2, {{0, 0, 1.0}, {1, 1, NAN}});
  EXPECT_THROW(dense_inverse(a.view()), Error);
}

TEST(DenseInverse, HasTheSameBitsForAnyNumberOfThreads) {
  const auto a = test::generated("poisson3d", 6);
  DenseInverse one, three;
  {
    const trireme::test::WithThreads threads(1);
    one = dense_inverse(a.view());
  }
  {
    const trireme::test::WithThreads threads(3);
    three = dense_inverse(a.view());
  }
  EXPECT_EQ(one.values, three.values);
}

}  // namespace
}  // namespace trireme::multigrid
