// SPDX-License-Identifier: BSD-3-Clause
// Sparse products and transposes agree with dense ones, for any threads.
#include "multigrid/set_up/sparse_product.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "multigrid/dense.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

using test::DenseMatrix;
using test::difference;

bool ascends(const CsrMatrix<double>& a) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k - 1] >= a.col_idx[k]) return false;
  return true;
}

TEST(SparseProduct, IsTheDenseProductWithAscendingColumns) {
  for (const auto& [rows, inner, cols] :
       {std::tuple{97, 61, 83}, std::tuple{1, 300, 1}, std::tuple{700, 3, 900}, std::tuple{5, 0, 4},
        std::tuple{0, 5, 3}, std::tuple{4, 3, 0}}) {
    const auto a = test::random_matrix(rows, inner, 1), b = test::random_matrix(inner, cols, 2);
    const auto c = multiply(a.view(), b.view());
    EXPECT_LT(difference(DenseMatrix(c.view()), DenseMatrix(a.view()) * DenseMatrix(b.view())),
              1e-14)
        << rows << " x " << inner << " x " << cols;
    EXPECT_TRUE(ascends(c));
    EXPECT_EQ(c.row_ptr.size(), static_cast<std::size_t>(rows) + 1);
  }
}

TEST(SparseProduct, StoresTheDiagonalWhereAsked) {
  const auto a = test::matrix_of(3, 2, {{0, 1, 2.0}});
  const auto b = test::matrix_of(2, 3, {{1, 0, 5.0}});
  const auto c = multiply(a.view(), b.view(), {.diagonal = true});
  EXPECT_EQ(c.nnz(), 3);
  EXPECT_EQ(c.col_idx, (Array<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(c.values, (Array<double>{10, 0, 0}));
}

TEST(SparseProduct, TakesNewValuesOnTheSamePattern) {
  auto a = test::random_matrix(1500, 700, 3);
  const auto b = test::random_matrix(700, 800, 4);
  auto c = multiply(a.view(), b.view());
  for (double& value : a.values) value = 1 / value;
  multiply_again(a.view(), b.view(), {}, c);
  const auto fresh = multiply(a.view(), b.view());
  EXPECT_EQ(c.values, fresh.values);
}

TEST(SparseProduct, HasTheSameBitsForAnyNumberOfThreads) {
  const auto a = test::random_matrix(5000, 3000, 5), b = test::random_matrix(3000, 4000, 6);
  CsrMatrix<double> one, three;
  {
    const trireme::test::WithThreads threads(1);
    one = multiply(a.view(), b.view());
  }
  {
    const trireme::test::WithThreads threads(3);
    three = multiply(a.view(), b.view());
  }
  EXPECT_EQ(one.row_ptr, three.row_ptr);
  EXPECT_EQ(one.col_idx, three.col_idx);
  EXPECT_EQ(one.values, three.values);
}

TEST(SparseProduct, RefusesSizesThatDoNotMeet) {
  const auto a = test::random_matrix(4, 5, 1), b = test::random_matrix(4, 5, 2);
  EXPECT_THROW(multiply(a.view(), b.view()), Error);
}

TEST(Transpose, IsTheDenseTransposeForAnyNumberOfThreads) {
  for (const auto& [rows, cols] : {std::tuple{9000, 37}, std::tuple{61, 83}, std::tuple{0, 4},
                                   std::tuple{4, 0}, std::tuple{1, 1}}) {
    const auto a = test::random_matrix(rows, cols, 7);
    const trireme::test::WithThreads threads(3);
    const auto t = transpose(a.view());
    EXPECT_EQ(difference(DenseMatrix(t.view()), DenseMatrix(a.view()).transposed()), 0)
        << rows << " x " << cols;
    EXPECT_TRUE(ascends(t));
  }
}

TEST(Transpose, TakesNewValues) {
  auto a = test::random_matrix(500, 300, 8);
  Transposed t = transposed(a.view());
  for (double& value : a.values) value += 3;
  t.renew(a.view());
  EXPECT_EQ(t.matrix.values, transpose(a.view()).values);
}

}  // namespace
}  // namespace trireme::multigrid
