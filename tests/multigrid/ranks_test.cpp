// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies on several ranks: the cycle as an operator, iterations, new values, and what reports
// are told. Run on 1, 2, 3 and 5 ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "multigrid/on_ranks.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/set_up/symmetry.hpp"

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
    Array<double> changed = values_of(*a);
    for (double& value : changed) value *= value > 0 ? 1.1 : 0.9;  // no FP32 numbers
    test::expect_renewals_to_be_builds(a, options, changed);
  }
}

// Rows of nodes with three unknowns count three times, if that is asked for. The levels are the
// same otherwise.
TEST(HierarchyOnRanks, LieWholeByTheirRowsOrByTheirUnknowns) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 12, 3);
  Options options = small_levels();
  options.block_size = 3;
  const Hierarchy by_rows(a, {}, options);
  const std::int64_t rows = by_rows.levels()[1].rows;
  ASSERT_GT(rows, options.coarsest_rows);
  const bool several = size_of(MPI_COMM_WORLD) > 1;
  for (const bool counts_unknowns : {false, true})
    for (const std::int64_t limit : {rows, 3 * rows - 1, 3 * rows}) {
      SCOPED_TRACE(limit);
      options.counts_unknowns = counts_unknowns;
      options.replicated_rows = limit;
      const Hierarchy m(a, {}, options);
      EXPECT_EQ(m.levels()[1].replicated, several && (!counts_unknowns || limit == 3 * rows));
      EXPECT_EQ(m.levels()[1].nnz, by_rows.levels()[1].nnz);
      EXPECT_EQ(m.levels().size(), by_rows.levels().size());
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

// A prolongator whose row i has the entry i + 1 in the coarse column of its rank that i / 3 names,
// and 0.5 in the first one.
CsrMatrix<double> rows_with_their_numbers(const DistributedMatrix& a) {
  CsrMatrix<double> p;
  p.rows = a.local_rows();
  p.cols = p.rows / 3 + 2;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (const std::int64_t column : {std::int64_t{0}, 1 + i / 3})
      p.col_idx.push_back(static_cast<std::int32_t>(column));
    p.values.push_back(0.5);
    p.values.push_back(static_cast<double>(a.first_row() + i + 1));
    p.row_ptr.push_back(static_cast<std::int32_t>(p.col_idx.size()));
  }
  return p;
}

TEST(GhostRows, AreThoseOfTheirOwners) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 7);
  const CsrMatrix<double> p = rows_with_their_numbers(*a);
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::int64_t> coarse_starts(ranks + 1, 0);
  for (int r = 0; r < ranks; ++r)
    coarse_starts[r + 1] = coarse_starts[r] + (a->row_starts[r + 1] - a->row_starts[r]) / 3 + 2;
  Array<std::int32_t> columns(p.cols);
  std::iota(columns.begin(), columns.end(),
            static_cast<std::int32_t>(coarse_starts[rank_of(MPI_COMM_WORLD)]));
  const GhostRows ghosts(MPI_COMM_WORLD, a->halo, p.view(), columns);
  ASSERT_EQ(ghosts.rows().rows, a->halo.ghosts);
  EXPECT_EQ(ghosts.rows().cols, std::ssize(ghosts.columns()));
  for (std::int64_t g = 0; g < ghosts.rows().rows; ++g) {
    const std::int64_t row = a->blocks.ghost_columns[g];
    int owner = 0;
    while (a->row_starts[owner + 1] <= row) ++owner;
    ASSERT_EQ(ghosts.rows().row_ptr[g + 1], 2 * (g + 1));
    EXPECT_EQ(ghosts.rows().values[2 * g], 0.5);
    EXPECT_EQ(ghosts.rows().values[2 * g + 1], static_cast<double>(row + 1));
    EXPECT_EQ(ghosts.columns()[ghosts.rows().col_idx[2 * g]], coarse_starts[owner]);
    EXPECT_EQ(ghosts.columns()[ghosts.rows().col_idx[2 * g + 1]],
              coarse_starts[owner] + 1 + (row - a->row_starts[owner]) / 3);
  }
}

TEST(Symmetry, IsSeenInAMatrix) {
  for (const char* kind : {"poisson3d", "blocks", "convection3d"}) {
    HostOperator op(generated(MPI_COMM_WORLD, kind, 6), "csr", Precision::mixed);
    EXPECT_EQ(is_symmetric(op), std::string(kind) != "convection3d") << kind;
  }
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 20);
  Array<double> values = values_of(*a);
  if (a->first_row() == 0) values[1] *= 1.001;  // one entry off the diagonal
  a->replace_values(values);
  HostOperator op(a, "csr");
  EXPECT_FALSE(is_symmetric(op));
}

}  // namespace
}  // namespace trireme::multigrid
