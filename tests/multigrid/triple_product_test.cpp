// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator is P^T A P, with a diagonal that is never zero.
#include "multigrid/set_up/triple_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "multigrid/dense.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/fill_guard.hpp"
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

// The bound by rows of the dense A P, and that of all coarse nonzeros.
std::int64_t bound_of(const CsrMatrix<double>& a, const CsrMatrix<double>& p, std::int64_t own) {
  CsrMatrix<double> ones_a = a, ones_p = p;  // so that no sum is zero
  for (double& value : ones_a.values) value = 1;
  for (double& value : ones_p.values) value = 1;
  const CsrMatrix<double> product = multiply(ones_a.view(), ones_p.view());
  std::vector<std::int64_t> longest(p.cols, 0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k)
      longest[p.col_idx[k]] = std::max<std::int64_t>(longest[p.col_idx[k]],
                                                     product.row_ptr[i + 1] - product.row_ptr[i]);
  return std::accumulate(longest.begin(), longest.begin() + own, std::int64_t{0});
}

TEST(FillGuard, CountsTheLongestRowsOfAPThatMeetEachColumn) {
  for (const char* kind : {"graph", "lognormal"}) {
    const auto a = generated(kind, 15000);
    const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
    const trireme::test::WithThreads threads(3);
    for (const std::int64_t own : {c.p.cols, c.p.cols / 2, std::int64_t{0}})
      EXPECT_EQ(least_coarse_nonzeros(a.view(), c.p.view(), own, 1,
                                      runs_of_terms(a.view(), c.p.view(), 1)),
                bound_of(a, c.p, own))
          << kind;
    const TripleProduct whole(without_ghosts(a), c.p.view());
    const std::int64_t bound = least_coarse_nonzeros(a.view(), c.p.view(), c.p.cols, 1,
                                                     runs_of_terms(a.view(), c.p.view(), 1));
    EXPECT_GT(bound, a.nnz()) << kind;
    EXPECT_LE(bound, whole.coarse().nnz()) << kind;
    EXPECT_FALSE(TripleProduct(without_ghosts(a), c.p.view(), 1, bound).exceeds()) << kind;
    const TripleProduct left_out(without_ghosts(a), c.p.view(), 1, bound - 1);
    EXPECT_TRUE(left_out.exceeds()) << kind;
    EXPECT_EQ(left_out.coarse().nnz(), 0) << kind;
  }
}

TEST(FillGuard, CountsNothingOnAMesh) {
  for (const char* kind : {"poisson3d", "poisson27", "mesh2d", "diffusion3d"}) {
    const auto a = generated(kind, 14);
    const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
    EXPECT_EQ(least_coarse_nonzeros(a.view(), c.p.view(), c.p.cols, 1,
                                    runs_of_terms(a.view(), c.p.view(), 1)),
              0)
        << kind;
  }
}

}  // namespace
}  // namespace trireme::multigrid
