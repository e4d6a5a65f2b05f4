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
    const TripleProduct product(without_ghosts(a), c.p.view());
    const DenseMatrix p(c.p.view());
    EXPECT_LT(difference(DenseMatrix(product.coarse().view()),
                         p.transposed() * (DenseMatrix(a.view()) * p)),
              1e-13)
        << kind;
    EXPECT_EQ(product.repaired(), 0) << kind;
  }
}

TEST(TripleProduct, IsTheDenseProductWithRigidBodyModes) {
  const auto a = generated("elasticity3d", 5);
  NearNullspace modes;
  const auto values = test::rigid_body_modes(5);
  modes.values.assign(values.begin(), values.end());
  modes.width = 6;
  const Coarsening c = coarsen(without_ghosts(a), modes, {.threshold = 0.25, .block_size = 3});
  const TripleProduct product(without_ghosts(a), c.p.view());
  const DenseMatrix p(c.p.view());
  EXPECT_LT(difference(DenseMatrix(product.coarse().view()),
                       p.transposed() * (DenseMatrix(a.view()) * p)),
            1e-12);
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
  TripleProduct product(without_ghosts(a), p.view());
  EXPECT_EQ(product.repaired(), 3);
  const DenseMatrix coarse(product.coarse().view());
  EXPECT_EQ(coarse(0, 0), 2.0L);
  EXPECT_EQ(coarse(1, 1), 2e9L);
  EXPECT_EQ(coarse(2, 2), 2e9L);
  product.renew(without_ghosts(a), p.view());
  EXPECT_EQ(product.repaired(), 3);
  EXPECT_EQ(difference(DenseMatrix(product.coarse().view()), coarse), 0);
}

TEST(TripleProduct, RenewedIsThatOfAFreshBuild) {
  auto a = generated("lognormal", 1200);
  Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  TripleProduct product(without_ghosts(a), c.p.view());
  for (double& value : a.values) value *= 3 + value;
  renew(c, without_ghosts(a));
  product.renew(without_ghosts(a), c.p.view());
  const TripleProduct fresh(without_ghosts(a), c.p.view());
  EXPECT_EQ(product.coarse().values, fresh.coarse().values);
}

TEST(TripleProduct, HasTheSameBitsForAnyNumberOfThreadsAndIsSymmetricInPattern) {
  const auto a = generated("poisson3d", 18);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  const trireme::test::WithThreads one(1);
  const TripleProduct first(without_ghosts(a), c.p.view());
  const trireme::test::WithThreads three(3);
  const TripleProduct second(without_ghosts(a), c.p.view());
  EXPECT_EQ(first.coarse().col_idx, second.coarse().col_idx);
  EXPECT_EQ(first.coarse().values, second.coarse().values);
  const Transposed t = transposed(first.coarse().view());
  EXPECT_EQ(t.matrix.col_idx, first.coarse().col_idx);
  EXPECT_EQ(t.matrix.row_ptr, first.coarse().row_ptr);
}

}  // namespace
}  // namespace trireme::multigrid
