// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies on several ranks: the cycle as an operator, iterations, new values, and what reports
// are told. Run on 1, 2, 3 and 5 ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "multigrid/on_ranks.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::expect_symmetric_and_definite;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::solve_by_cg;
using test::values_of;

TEST(CycleOnRanks, IsSymmetricAndPositiveDefinite) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 9);
  Hierarchy m(a, {}, small_levels());
  EXPECT_GE(m.levels().size(), 3u);
  expect_symmetric_and_definite(*a, m);
}

TEST(CycleOnRanks, IsLinear) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 10);
  Hierarchy m(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 1), s = random_rows(*a, 2);
  Array<double> sum(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) sum[i] = 3 * r[i] - 2 * s[i];
  const Array<double> mr = applied(m, r), ms = applied(m, s), m_sum = applied(m, sum);
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(m_sum[i], 3 * mr[i] - 2 * ms[i], 1e-12);
}

TEST(HierarchyOnRanks, ConvergesOnSeveralRanksAsOnOne) {
  for (const char* kind : {"poisson3d", "poisson27", "blocks"}) {
    const std::int64_t n = std::string(kind) == "blocks" ? 8 : 14;
    const auto whole = generated(MPI_COMM_SELF, kind, n);
    const auto parts = generated(MPI_COMM_WORLD, kind, n);
    Hierarchy on_one(whole, {}, small_levels()), on_ranks(parts, {}, small_levels());
    const test::CgResult one = solve_by_cg(whole, on_one), ranks = solve_by_cg(parts, on_ranks);
    EXPECT_TRUE(ranks.converged);
    EXPECT_LE(ranks.iterations, std::ceil(1.2 * one.iterations)) << kind;
  }
}

TEST(HierarchyOnRanks, RenewedIsTheSameAsBuiltAgain) {
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

TEST(HierarchyOnRanks, TellsTheLevelsAndWhatTheyCost) {
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

}  // namespace
}  // namespace trireme::multigrid
