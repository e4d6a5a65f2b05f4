// SPDX-License-Identifier: BSD-3-Clause
// The cycle as an operator, its convergence, ranks, threads and new values. Run on 1, 2, 3 and 5
// ranks.
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

using test::generated;
using test::random_rows;
using test::solve_by_cg;
using test::values_of;
using trireme::test::WithThreads;

constexpr Smoother kSmoothers[] = {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi,
                                   Smoother::block_jacobi};

// Small enough limits that a small matrix has several levels, of which the first is distributed.
Options small_levels() {
  Options options;
  options.coarsest_rows = 30;
  options.replicated_rows = 150;
  return options;
}

Array<double> applied(Hierarchy& m, const Array<double>& r) {
  Array<double> z(r.size(), NAN);
  m.apply(r, z);
  return z;
}

void expect_symmetric_and_definite(const DistributedMatrix& a, Hierarchy& m) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Array<double> r = random_rows(a, seed), s = random_rows(a, seed + 10);
    const Array<double> mr = applied(m, r), ms = applied(m, s);
    const double rr = test::dot(a.comm, r, mr), ss = test::dot(a.comm, s, ms);
    EXPECT_GT(rr, 0);
    EXPECT_GT(ss, 0);
    EXPECT_NEAR(test::dot(a.comm, r, ms), test::dot(a.comm, s, mr), 1e-12 * std::sqrt(rr * ss));
  }
}

TEST(Cycle, IsSymmetricAndPositiveDefiniteWithEverySmoother) {
  const auto poisson = generated(MPI_COMM_WORLD, "poisson3d", 11);
  const auto elastic = generated(MPI_COMM_WORLD, "elasticity3d", 6, 3);
  for (const Smoother smoother : kSmoothers)
    for (const CycleKind cycle : {CycleKind::v, CycleKind::w})
      for (const int degree : {1, 2, 3, 4}) {
        SCOPED_TRACE(std::string(to_string(smoother)) + " " + std::string(to_string(cycle)) + " " +
                     std::to_string(degree));
        Options options = small_levels();
        options.smoother = smoother;
        options.cycle = cycle;
        options.degree = degree;
        Hierarchy of_poisson(poisson, {}, options);
        EXPECT_GE(of_poisson.levels().size(), 3u);
        expect_symmetric_and_definite(*poisson, of_poisson);
        options.block_size = 3;
        Hierarchy of_elastic(elastic, {}, options);
        expect_symmetric_and_definite(*elastic, of_elastic);
      }
}

TEST(Cycle, IsLinear) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 10);
  Hierarchy m(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 1), s = random_rows(*a, 2);
  Array<double> sum(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) sum[i] = 3 * r[i] - 2 * s[i];
  const Array<double> mr = applied(m, r), ms = applied(m, s), m_sum = applied(m, sum);
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(m_sum[i], 3 * mr[i] - 2 * ms[i], 1e-12);
}

TEST(Hierarchy, ReducesPoissonResidualsByTheSameFactorAtEverySize) {
  for (const std::int64_t n : {10, 20, 32}) {
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
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 16);
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

TEST(Hierarchy, ConvergesOnSeveralRanksAsOnOne) {
  for (const char* kind : {"poisson3d", "poisson27", "blocks"}) {
    const std::int64_t n = std::string(kind) == "blocks" ? 10 : 18;
    const auto whole = generated(MPI_COMM_SELF, kind, n);
    const auto parts = generated(MPI_COMM_WORLD, kind, n);
    Hierarchy on_one(whole, {}, small_levels()), on_ranks(parts, {}, small_levels());
    const test::CgResult one = solve_by_cg(whole, on_one), ranks = solve_by_cg(parts, on_ranks);
    EXPECT_TRUE(ranks.converged);
    EXPECT_LE(ranks.iterations, std::ceil(1.2 * one.iterations)) << kind;
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

TEST(Hierarchy, RenewedIsTheSameAsBuiltAgain) {
  for (const Precision precision : {Precision::mixed, Precision::full}) {
    const auto a = generated(MPI_COMM_WORLD, "poisson3d", 14);
    Options options = small_levels();
    options.threshold = 0;  // so that the aggregates do not depend on the values
    options.precision = precision;
    Hierarchy m(a, {}, options);
    const Array<double> r = random_rows(*a, 3);
    const Array<double> first = applied(m, r);
    const Array<double> values = values_of(*a);
    Array<double> changed = values;
    for (double& value : changed) value *= value > 0 ? 1.1 : 0.9;  // no FP32 numbers
    a->replace_values(changed);
    m.renew();
    Hierarchy again(a, {}, options);
    EXPECT_EQ(applied(m, r), applied(again, r));
    EXPECT_NE(applied(m, r), first);
    a->replace_values(values);
    m.renew();
    EXPECT_EQ(applied(m, r), first);
  }
}

TEST(Hierarchy, TellsTheLevelsAndWhatTheyCost) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 16);
  Hierarchy m(a, {}, small_levels());
  const std::vector<LevelFacts>& levels = m.levels();
  ASSERT_GE(levels.size(), 3u);
  EXPECT_EQ(levels.front().rows, a->global_rows());
  EXPECT_EQ(levels.front().nnz, a->global_nnz);
  EXPECT_FALSE(levels.front().replicated);
  EXPECT_EQ(levels.back().kernel, "dense inverse");
  EXPECT_LE(levels.back().rows, 30);
  EXPECT_EQ(levels.back().replicated, size_of(MPI_COMM_WORLD) > 1);
  double nnz = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    nnz += static_cast<double>(levels[l].nnz);
    if (l > 0) {
      EXPECT_LT(levels[l].rows, levels[l - 1].rows / 4);
    }
    if (l + 1 < levels.size()) {
      EXPECT_GT(levels[l].spectral_radius, 1);
    }
  }
  EXPECT_DOUBLE_EQ(m.operator_complexity(), nnz / static_cast<double>(a->global_nnz));
  EXPECT_GT(m.set_up().total, m.set_up().products);
  EXPECT_GT(m.bytes(), 0);
  EXPECT_EQ(m.remark(), "");
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

}  // namespace
}  // namespace trireme::multigrid
