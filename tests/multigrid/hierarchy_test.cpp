// SPDX-License-Identifier: BSD-3-Clause
// The cycle as an operator, its convergence with every smoother, threads, and values of any range.
// Run on 1 and 2 ranks.
#include "multigrid/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
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

// With less and less room for the coarse matrix, iterations rise step by step to those of plain
// aggregation.
TEST(Hierarchy, IsThinnedAsFarAsItsRoomNeeds) {
  for (const auto& [kind, n, block] :
       {std::tuple{"elasticity3d", 8, 3}, std::tuple{"mesh2d", 40, 1}}) {
    SCOPED_TRACE(kind);
    const auto a = generated(MPI_COMM_WORLD, kind, n, block);
    Options options = small_levels();
    options.block_size = block;
    const auto iterations_of = [&](bool smoothed, double fill) {
      options.smoothed_prolongator = smoothed;
      options.fill = fill;
      Hierarchy m(a, {}, options);
      if (smoothed)
        for (std::size_t l = 1; l < m.levels().size(); ++l) {
          const LevelFacts &fine = m.levels()[l - 1], &coarse = m.levels()[l];
          const bool fits = static_cast<double>(coarse.nnz) <= fill * static_cast<double>(fine.nnz);
          EXPECT_TRUE(fits || coarse.prolongator == "plain, for it would fill") << l;
        }
      return std::pair{solve_by_cg(a, m).iterations, m.levels()[1].prolongator};
    };
    Hierarchy whole(a, {}, [&] {
      options.fill = 1e300;
      return options;
    }());
    EXPECT_EQ(whole.levels()[0].prolongator, "");
    const double room =
        static_cast<double>(whole.levels()[1].nnz) / static_cast<double>(whole.levels()[0].nnz);
    const auto [most, plain] = iterations_of(false, 0.7);
    EXPECT_EQ(plain, "plain");
    const auto [least, smoothed] = iterations_of(true, room);
    EXPECT_EQ(smoothed, "smoothed");
    const auto [little, thinned] = iterations_of(true, 0.97 * room);
    EXPECT_EQ(thinned.substr(0, 10), "thinned 1/");
    EXPECT_LE(little, least + (most - least) / 2);
    EXPECT_LT(least, most);
    EXPECT_EQ(iterations_of(true, 0).second, "plain, for it would fill");
  }
}

TEST(Hierarchy, IsAsThinOnAnyNumberOfRanks) {
  for (const auto& [kind, n, block] : {std::tuple{"graph", 3000, 1}, std::tuple{"mesh2d", 40, 1},
                                       std::tuple{"elasticity3d", 8, 3}}) {
    Options options = small_levels();
    options.block_size = block;
    options.fill = 0.02;
    Hierarchy here(generated(MPI_COMM_SELF, kind, n, block), {}, options);
    Hierarchy everywhere(generated(MPI_COMM_WORLD, kind, n, block), {}, options);
    ASSERT_EQ(everywhere.levels().size(), here.levels().size());
    EXPECT_NE(here.levels()[1].prolongator, "smoothed") << kind;
    for (std::size_t l = 0; l < here.levels().size(); ++l) {
      EXPECT_EQ(everywhere.levels()[l].prolongator, here.levels()[l].prolongator) << kind;
      EXPECT_EQ(everywhere.levels()[l].nnz, here.levels()[l].nnz) << kind;
    }
  }
}

// The first values are symmetric and the second ones are not, or the other way round.
TEST(Hierarchy, RenewedKnowsWhetherTheNewValuesAreSymmetric) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 9);
  const Array<double> first = values_of(*generated(MPI_COMM_WORLD, "poisson3d", 9)),
                      second = values_of(*a);
  ASSERT_EQ(first.size(), second.size());
  for (const auto& [before, after] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
    a->replace_values(*before);
    Hierarchy m(a, {}, small_levels());
    a->replace_values(*after);
    m.renew();
    EXPECT_EQ(m.smoother(), after == &second ? Smoother::jacobi : Smoother::chebyshev);
    const Array<double> x = random_rows(*a, 1), y = random_rows(*a, 2);
    Array<double> transposed(x.size());
    m.apply_transposed(x, transposed);
    EXPECT_NEAR(test::dot(a->comm, transposed, y), test::dot(a->comm, x, applied(m, y)), 1e-12);
  }
}

TEST(Hierarchy, RenewedIsAsThinAsBefore) {
  const auto a = generated(MPI_COMM_WORLD, "graph", 3000);
  Options options = small_levels();
  Hierarchy m(a, {}, options);
  ASSERT_EQ(m.levels()[1].prolongator.substr(0, 10), "thinned 1/");
  const Array<double> r = random_rows(*a, 3), z = applied(m, r);
  Array<double> values = values_of(*a);
  for (double& value : values) value *= 0.25;
  a->replace_values(values);
  m.renew();
  Array<double> renewed = applied(m, r);
  for (double& value : renewed) value *= 0.25;
  EXPECT_EQ(renewed, z);
}

// A power of two is a unit: it changes no decision and no bit.
TEST(Hierarchy, OfScaledValuesIsTheScaledOne) {
  for (const auto& [kind, n, block] :
       {std::tuple{"poisson3d", 9, 1}, std::tuple{"graph", 1500, 1},
        std::tuple{"elasticity3d", 5, 3}, std::tuple{"convection3d", 9, 1}})
    for (const Smoother smoother : kSmoothers) {
      SCOPED_TRACE(std::string(kind) + " " + std::string(to_string(smoother)));
      const auto a = generated(MPI_COMM_WORLD, kind, n, block);
      Options options = small_levels();
      options.smoother = smoother;
      options.block_size = block;
      options.precision = Precision::full;
      const Array<double> r = random_rows(*a, 3);
      Hierarchy plain(a, {}, options);
      const Array<double> z = applied(plain, r);
      Array<double> values = values_of(*a);
      for (double& value : values) value *= 0x1p-40;
      a->replace_values(values);
      Hierarchy small(a, {}, options);
      Array<double> scaled = applied(small, r);
      for (double& value : scaled) value *= 0x1p-40;
      EXPECT_EQ(scaled, z);
      plain.renew();
      scaled = applied(plain, r);
      for (double& value : scaled) value *= 0x1p-40;
      EXPECT_EQ(scaled, z);
    }
}

// No coarser level takes the smooth part of the error, so that the last one smooths longer.
TEST(Hierarchy, SmoothsItsLastLevelWithTheHighestDegree) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 30);  // not inverted
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi}) {
    Options options = small_levels();
    options.smoother = smoother;
    options.max_levels = 2;
    options.degree = 1;
    Hierarchy m(a, {}, options);
    const std::vector<HostLevelParts> parts = m.parts();
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts.front().smoothing.degree, 1);
    EXPECT_EQ(parts.back().kind, CycleLevel::Kind::smoothed);
    EXPECT_EQ(parts.back().smoothing.degree, kMaxDegree);
  }
}

void expect_transposed(const DistributedMatrix& a, Hierarchy& m, double tolerance) {
  for (const std::uint64_t seed : {1, 2}) {
    const Array<double> x = random_rows(a, seed), y = random_rows(a, seed + 10);
    Array<double> transposed(x.size(), NAN);
    m.apply_transposed(x, transposed);
    const Array<double> z = applied(m, y);
    const double scale = std::sqrt(test::dot(a.comm, x, x) * test::dot(a.comm, z, z));
    EXPECT_NEAR(test::dot(a.comm, transposed, y), test::dot(a.comm, x, z), tolerance * scale);
  }
}

TEST(TransposedCycle, IsTheAdjointOfTheCycle) {
  for (const auto& [kind, n] :
       {std::pair{"convection3d", 9}, {"convection3d", 3}, {"poisson3d", 9}})
    for (const CycleKind cycle : {CycleKind::v, CycleKind::w})
      for (const Smoother smoother : {Smoother::jacobi, Smoother::l1_jacobi})
        for (const Precision precision : {Precision::full, Precision::mixed}) {
          SCOPED_TRACE(std::string(kind) + " " + std::string(to_string(smoother)));
          const auto a = generated(MPI_COMM_WORLD, kind, n);
          Array<double> values = values_of(*a);
          for (double& value : values) value *= 1.1;  // which FP32 does not hold exactly
          a->replace_values(values);
          Options options = small_levels();
          options.smoother = smoother;
          options.cycle = cycle;
          options.precision = precision;
          Hierarchy m(a, {}, options);
          expect_transposed(*a, m, 1e-13);
          for (double& value : values) value *= 0x1p-200;  // beyond FP32
          a->replace_values(values);
          m.renew();
          expect_transposed(*a, m, 1e-13);
        }
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
