// SPDX-License-Identifier: BSD-3-Clause
// The cycle as an operator, its convergence with every smoother, threads, and values of any range. Run
// on 1 and 2 ranks.
#include "multigrid/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "multigrid/on_ranks.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::expect_symmetric_and_definite;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::solve_by_cg;
using test::values_of;
using trireme::test::WithThreads;

constexpr Smoother kSmoothers[] = {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi,
                                   Smoother::block_jacobi};

TEST(Cycle, IsSymmetricAndPositiveDefiniteWithEverySmootherAndDegree) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 9);
  const auto expect = [&](Smoother smoother, int degree, CycleKind cycle) {
    SCOPED_TRACE(std::string(to_string(smoother)) + " " + std::to_string(degree));
    Options options = small_levels();
    options.smoother = smoother;
    options.degree = degree;
    options.cycle = cycle;
    Hierarchy m(a, {}, options);
    EXPECT_GE(m.levels().size(), 3u);
    expect_symmetric_and_definite(*a, m);
  };
  for (const int degree : {1, 2, 3, 4}) expect(Smoother::chebyshev, degree, CycleKind::v);
  for (const Smoother smoother : kSmoothers) expect(smoother, 2, CycleKind::w);
}

TEST(Cycle, IsSymmetricAndPositiveDefiniteWithBlocks) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 5, 3);
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::block_jacobi}) {
    Options options = small_levels();
    options.smoother = smoother;
    options.block_size = 3;
    Hierarchy m(a, {}, options);
    expect_symmetric_and_definite(*a, m);
  }
}

TEST(Hierarchy, ReducesPoissonResidualsByTheSameFactorAtEverySize) {
  for (const std::int64_t n : {10, 18, 28}) {
    const auto a = generated(MPI_COMM_WORLD, "poisson3d", n);
    Hierarchy m(a, {}, small_levels());
    const test::CgResult result = solve_by_cg(a, m);
    EXPECT_TRUE(result.converged);
    EXPECT_LT(result.factor, 0.3) << n;
    EXPECT_LE(result.iterations, 15) << n;
    EXPECT_LT(m.operator_complexity(), 2);
  }
}

TEST(Hierarchy, ConvergesWithEverySmootherAndCycle) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 12);
  for (const Smoother smoother : kSmoothers)
    for (const CycleKind cycle : {CycleKind::v, CycleKind::w}) {
      Options options = small_levels();
      options.smoother = smoother;
      options.cycle = cycle;
      Hierarchy m(a, {}, options);
      const test::CgResult result = solve_by_cg(a, m);
      EXPECT_TRUE(result.converged);
      EXPECT_LE(result.iterations, smoother == Smoother::l1_jacobi ? 22 : 16)
          << to_string(smoother) << " " << to_string(cycle);
    }
}

TEST(Hierarchy, NeedsFewerIterationsWithAHigherDegree) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 16);
  int last = 1000;
  for (const int degree : {1, 2, 4}) {
    Options options = small_levels();
    options.degree = degree;
    Hierarchy m(a, {}, options);
    const int iterations = solve_by_cg(a, m).iterations;
    EXPECT_LT(iterations, last) << degree;
    last = iterations;
  }
}

TEST(Hierarchy, GivesTheSameBitsInEveryRunAndWithAnyNumberOfThreads) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 20);
  const Array<double> r = random_rows(*a, 3);
  std::vector<Array<double>> results;
  for (const int threads : {1, 2, 3, 2}) {
    const WithThreads with(threads);
    Hierarchy m(a, {}, small_levels());
    results.push_back(applied(m, r));
    results.push_back(applied(m, r));
  }
  for (const Array<double>& result : results) EXPECT_EQ(result, results.front());
}

TEST(Hierarchy, StoresValuesBeyondTheRangeOfFp32InFp64) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 12);
  for (const double factor : {0x1p200, 0x1p-200}) {
    Array<double> values = values_of(*a);
    for (double& value : values) value *= factor;
    a->replace_values(values);
    Hierarchy m(a, {}, small_levels());
    EXPECT_EQ(m.levels().front().precision, Precision::full);
    EXPECT_LE(solve_by_cg(a, m).iterations, 15);
    for (double& value : values) value /= factor;
    a->replace_values(values);
  }
}

TEST(Hierarchy, DoesNotFillUpOnAGraphWithoutAGeometry) {
  const auto a = generated(MPI_COMM_WORLD, "graph", 3000);
  Hierarchy m(a, {}, small_levels());
  EXPECT_LT(m.operator_complexity(), 2);
  EXPECT_TRUE(solve_by_cg(a, m).converged);
}

// A nonsymmetric matrix: the stationary iteration x += M (b - A x).
TEST(Hierarchy, ReducesTheErrorOfConvectionAndDiffusion) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 14);
  Hierarchy m(a, {}, small_levels());
  HostOperator op(a, "csr");
  const Array<double> b = random_rows(*a, 2);
  Array<double> x(b.size(), 0.0), r = b, z(b.size()), q(b.size());
  const double start = test::dot(a->comm, r, r);
  for (int step = 0; step < 40; ++step) {
    m.apply(r, z);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += z[i];
    op.multiply(x, q);
    for (std::size_t i = 0; i < x.size(); ++i) r[i] = b[i] - q[i];
  }
  EXPECT_LT(std::sqrt(test::dot(a->comm, r, r) / start), 1e-4);
}

}  // namespace
}  // namespace trireme::multigrid
