// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator is P^T A P, with a diagonal that is never zero.
#include "multigrid/triple_product.hpp"

#include <gtest/gtest.h>

#include "multigrid/coarsen.hpp"
#include "multigrid/dense.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

using test::DenseMatrix;
using test::difference;
using test::generated;
using test::without_ghosts;

TEST(TripleProduct, IsTheDenseProduct) {
  for (const char* kind : {"poisson3d", "convection3d", "mesh2d"}) {
    const auto a = generated(kind, 7);
    const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
    const TripleProduct product(without_ghosts(a), c.p.view(), {});
    const DenseMatrix p(c.p.view());
    EXPECT_LT(difference(DenseMatrix(product.local().view()),
                         p.transposed() * (DenseMatrix(a.view()) * p)),
              1e-13)
        << kind;
    EXPECT_EQ(product.repaired(), 0) << kind;
    EXPECT_EQ(product.ghost().nnz(), 0);
    EXPECT_EQ(product.ghost().rows, c.p.cols);
  }
}

TEST(TripleProduct, IsTheDenseProductWithRigidBodyModes) {
  const auto a = generated("elasticity3d", 5);
  NearNullspace modes;
  const auto values = test::rigid_body_modes(5);
  modes.values.assign(values.begin(), values.end());
  modes.width = 6;
  const Coarsening c = coarsen(without_ghosts(a), modes, {.threshold = 0.25, .block_size = 3});
  const TripleProduct product(without_ghosts(a), c.p.view(), {});
  const DenseMatrix p(c.p.view());
  EXPECT_LT(
      difference(DenseMatrix(product.local().view()), p.transposed() * (DenseMatrix(a.view()) * p)),
      1e-12);
}

// Rows 0 .. 1 of rank 0 of a matrix of two ranks.
TEST(TripleProduct, OfGhostColumnsIsTheProductWithTheirRowsOfP) {
  const auto local = test::matrix_of(2, 2, {{0, 0, 4.0}, {0, 1, -1.0}, {1, 0, -1.0}, {1, 1, 4.0}});
  const auto ghost = test::matrix_of(2, 2, {{0, 0, -2.0}, {1, 0, -3.0}, {1, 1, -5.0}});
  const std::int32_t columns[] = {2, 3};
  const LocalRows a{local.view(), ghost.view(), columns, 0};
  const auto p = test::matrix_of(2, 1, {{0, 0, 0.5}, {1, 0, 1.0}});
  const auto p_ghost = test::matrix_of(2, 2, {{0, 0, 1.0}, {0, 1, 7.0}, {1, 1, 2.0}});
  const TripleProduct product(a, p.view(), p_ghost.view());
  EXPECT_EQ(product.local().values, (Array<double>{0.25 * 4 - 0.5 - 0.5 + 4}));
  EXPECT_EQ(product.ghost().col_idx, (Array<std::int32_t>{0, 1}));
  EXPECT_EQ(product.ghost().values, (Array<double>{-1.0 - 3, -7.0 - 21 - 10}));
}

TEST(TripleProduct, RepairsSingularPartsAndEmptyColumns) {
  // Two paths with free ends, each one aggregate, and a third column that no row of P has.
  const auto a = test::matrix_of(4, 4,
                                 {{0, 0, 1.0},
                                  {0, 1, -1.0},
                                  {1, 0, -1.0},
                                  {1, 1, 1.0},
                                  {2, 2, 1e9},
                                  {2, 3, -1e9},
                                  {3, 2, -1e9},
                                  {3, 3, 1e9}});
  const auto p = test::matrix_of(4, 3, {{0, 0, 1.0}, {1, 0, 1.0}, {2, 1, 1.0}, {3, 1, 1.0}});
  TripleProduct product(without_ghosts(a), p.view(), {});
  EXPECT_EQ(product.repaired(), 3);
  const DenseMatrix coarse(product.local().view());
  EXPECT_EQ(coarse(0, 0), 2.0L);
  EXPECT_EQ(coarse(1, 1), 2e9L);
  EXPECT_EQ(coarse(2, 2), 2e9L);
  product.renew(without_ghosts(a), p.view(), {});
  EXPECT_EQ(product.repaired(), 3);
  EXPECT_EQ(difference(DenseMatrix(product.local().view()), coarse), 0);
}

TEST(TripleProduct, RenewedIsThatOfAFreshBuild) {
  auto a = generated("lognormal", 1200);
  Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  TripleProduct product(without_ghosts(a), c.p.view(), {});
  for (double& value : a.values) value *= 3 + value;
  renew(c, without_ghosts(a));
  product.renew(without_ghosts(a), c.p.view(), {});
  const TripleProduct fresh(without_ghosts(a), c.p.view(), {});
  EXPECT_EQ(product.local().values, fresh.local().values);
}

TEST(TripleProduct, HasTheSameBitsForAnyNumberOfThreadsAndIsSymmetricInPattern) {
  const auto a = generated("poisson3d", 18);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  const trireme::test::WithThreads one(1);
  const TripleProduct first(without_ghosts(a), c.p.view(), {});
  const trireme::test::WithThreads three(3);
  const TripleProduct second(without_ghosts(a), c.p.view(), {});
  EXPECT_EQ(first.local().col_idx, second.local().col_idx);
  EXPECT_EQ(first.local().values, second.local().values);
  const Transposed t = transposed(first.local().view());
  EXPECT_EQ(t.matrix.col_idx, first.local().col_idx);
  EXPECT_EQ(t.matrix.row_ptr, first.local().row_ptr);
}

}  // namespace
}  // namespace trireme::multigrid
