// SPDX-License-Identifier: BSD-3-Clause
// Dense inverses and pseudo-inverses keep their identities.
#include "multigrid/dense_inverse.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "multigrid/dense.hpp"
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
