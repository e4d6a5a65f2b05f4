// SPDX-License-Identifier: BSD-3-Clause
// Levels whose aggregates and prolongator cross the borders of ranks, against those of one rank.
// Run on 1, 2, 3 and 5 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "multigrid/dense.hpp"
#include "multigrid/on_ranks.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/ranks/replication.hpp"
#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/triple_product.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::DenseMatrix;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::solve_by_cg;
using test::values_of;

using Starts = std::vector<std::int64_t>;

// Cuts the nodes of `block` rows into parts that differ in size. The second of three or more ranks
// gets no row.
Starts uneven(std::int64_t rows, std::int64_t block) {
  const int ranks = size_of(MPI_COMM_WORLD);
  Starts starts{0};
  for (int r = 1; r <= ranks; ++r)
    starts.push_back(ranks > 2 && r == 2 ? starts.back() : rows / block * r / ranks * block);
  return starts;
}

std::shared_ptr<DistributedMatrix> distributed(MPI_Comm comm, const CsrMatrix<double>& a,
                                               const Starts& starts) {
  const std::int64_t first = starts[rank_of(comm)], end = starts[rank_of(comm) + 1];
  RowSlab slab{.global_rows = a.rows,
               .global_cols = a.cols,
               .global_nnz = a.nnz(),
               .first_row = first,
               .local = {.rows = end - first, .cols = a.cols, .row_ptr{}, .col_idx{}, .values{}}};
  const std::int32_t begin = a.row_ptr[first];
  for (std::int64_t i = first; i <= end; ++i) slab.local.row_ptr.push_back(a.row_ptr[i] - begin);
  slab.local.col_idx.assign(a.col_idx.begin() + begin, a.col_idx.begin() + a.row_ptr[end]);
  slab.local.values.assign(a.values.begin() + begin, a.values.begin() + a.row_ptr[end]);
  return distribute(comm, std::move(slab), starts);
}

template <class T>
Array<T> gathered(const Array<T>& mine) {
  const std::vector<int> to(mine.size(), 0);
  Array<T> all = send_to_ranks<T>(MPI_COMM_WORLD, mine, 1, to).values;
  auto count = std::ssize(all);
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  all.resize(count);
  MPI_Bcast(all.data(), static_cast<int>(count * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

// All rows, of which each rank has some with global columns.
DenseMatrix gathered(const CsrMatrix<double>& mine, std::int64_t cols) {
  Array<double> rows(mine.rows * cols, 0.0);
  for (std::int64_t i = 0; i < mine.rows; ++i)
    for (std::int32_t k = mine.row_ptr[i]; k < mine.row_ptr[i + 1]; ++k)
      rows[i * cols + mine.col_idx[k]] += mine.values[k];
  const Array<double> all = gathered(rows);
  DenseMatrix dense(sum_over_ranks(MPI_COMM_WORLD, mine.rows), cols);
  std::copy(all.begin(), all.end(), dense.values.begin());
  return dense;
}

// P of this rank with global columns.
CsrMatrix<double> with_global_columns(const Coarsening& c) {
  const CoarseColumns& columns = c.columns;
  CsrMatrix<double> p = c.p;
  p.cols = columns.starts.back();
  for (std::int32_t& column : p.col_idx)
    column = column < columns.own() ? static_cast<std::int32_t>(column + columns.first())
                                    : columns.ghosts[column - columns.own()];
  return p;
}

// Rows `starts[r]` .. of numbers that each row has `width` of.
NearNullspace part(const NearNullspace& modes, const Starts& starts) {
  const int rank = rank_of(MPI_COMM_WORLD);
  const auto begin = modes.values.begin();
  return {.values = Array<double>(begin + starts[rank] * modes.width,
                                  begin + starts[rank + 1] * modes.width),
          .width = modes.width};
}

// A level on the ranks, with its prolongator and the next coarser matrix, beside those of one rank.
struct BothWays {
  Coarsening one;
  std::shared_ptr<DistributedMatrix> matrix;
  ExtendedRows rows;
  Coarsening ranks;
  TripleProduct product;

  BothWays(const CsrMatrix<double>& a, const NearNullspace& modes, const CoarsenRules& rules)
      : one(coarsen(test::without_ghosts(a), modes, rules)),
        matrix(distributed(MPI_COMM_WORLD, a, uneven(a.rows, rules.block_size))),
        rows(MPI_COMM_WORLD, *matrix, rules.block_size),
        ranks(coarsen(rows, part(modes, uneven(a.rows, rules.block_size)), rules)),
        product(rows, ranks.p.view(), ranks.columns, ranks.coarse_block_size) {}
  DenseMatrix p() const { return gathered(with_global_columns(ranks), coarse_rows()); }
  DenseMatrix coarse() const { return gathered(product.rows(), coarse_rows()); }
  std::int64_t coarse_rows() const { return ranks.columns.starts.back(); }
};

// Edges in one direction only, and ghost nodes of which entries name one unknown only.
CsrMatrix<double> with_one_way_edges(std::int64_t nodes, std::int64_t block) {
  std::vector<test::Entry> entries;
  const auto rows = static_cast<std::int32_t>(nodes * block);
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < rows; ++j) {
      const std::uint64_t hash = split_mix(static_cast<std::uint64_t>(i) * rows + j, 3);
      if (i == j)
        entries.emplace_back(i, j, 4.0);
      else if (i / block == j / block)
        entries.emplace_back(i, j, 0.1);
      else if (hash % (12 * block) == 0)
        entries.emplace_back(i, j, -0.2 - 0.7 * to_unit(hash));
    }
  return test::matrix_of(rows, rows, entries);
}

// A path, and edges from its first fifth to its last one that have none back. On several ranks, all
// of these cross borders.
CsrMatrix<double> with_one_way_crossings(std::int32_t nodes) {
  std::vector<test::Entry> entries;
  for (std::int32_t i = 0; i < nodes; ++i) {
    if (i > 0) entries.emplace_back(i, i - 1, -1.0);
    entries.emplace_back(i, i, 4.0);
    if (i + 1 < nodes) entries.emplace_back(i, i + 1, -1.0);
    if (i < nodes / 5) entries.emplace_back(i, i + nodes * 4 / 5, -1.0);
  }
  return test::matrix_of(nodes, nodes, entries);
}

NearNullspace rigid_body(std::int64_t n) {
  const std::vector<double> values = test::rigid_body_modes(n);
  return {.values = Array<double>(values.begin(), values.end()), .width = 6};
}

struct Example {
  std::string name;
  CsrMatrix<double> a;
  NearNullspace modes;
  CoarsenRules rules;
};

std::vector<Example> examples() {
  std::vector<Example> all;
  all.push_back({"poisson3d", test::generated("poisson3d", 9), {}, {.threshold = 0.25}});
  all.push_back({"mesh2d", test::generated("mesh2d", 22), {}, {.threshold = 0.25}});
  all.push_back({"twice", test::generated("mesh2d", 26), {}, {.threshold = 0, .aggressive = true}});
  all.push_back({"unsmoothed", test::generated("mesh2d", 20), {}, {.smoothed = false}});
  all.push_back(
      {"unknowns", test::generated("blocks", 4), {}, {.threshold = 0.25, .block_size = 5}});
  all.push_back({"modes",
                 test::generated("elasticity3d", 6),
                 rigid_body(6),
                 {.threshold = 0.25, .block_size = 3}});
  all.push_back({"one-way edges", with_one_way_edges(300, 1), {}, {.threshold = 0.25}});
  all.push_back({"one-way edges of blocks",
                 with_one_way_edges(120, 3),
                 {},
                 {.threshold = 0.25, .block_size = 3}});
  all.push_back(
      {"one-way edges across borders", with_one_way_crossings(200), {}, {.threshold = 0.25}});
  all.push_back({"diagonal",
                 test::matrix_of(5, 5, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 1}}),
                 {},
                 {}});
  return all;
}

TEST(AcrossRanks, ProlongatorIsThatOfOneRank) {
  for (const Example& e : examples()) {
    SCOPED_TRACE(e.name);
    const BothWays both(e.a, e.modes, e.rules);
    EXPECT_EQ(both.coarse_rows(), both.one.p.cols);
    EXPECT_NEAR(both.ranks.spectral_radius, both.one.spectral_radius,
                1e-10 * both.one.spectral_radius);
    EXPECT_LT(difference(both.p(), DenseMatrix(both.one.p.view())), 1e-10);
    const Array<double> modes = gathered(both.ranks.coarse_modes.values);
    ASSERT_EQ(modes.size(), both.one.coarse_modes.values.size());
    for (std::size_t k = 0; k < modes.size(); ++k)
      EXPECT_NEAR(modes[k], both.one.coarse_modes.values[k], 1e-12);
  }
}

TEST(AcrossRanks, CoarseMatrixIsTheDenseProduct) {
  for (const Example& e : examples()) {
    if (e.name == "diagonal") continue;  // has no coarse row
    SCOPED_TRACE(e.name);
    const BothWays both(e.a, e.modes, e.rules);
    const DenseMatrix p = both.p(), a(e.a.view());
    EXPECT_EQ(both.product.repaired(), 0);
    EXPECT_LT(difference(both.coarse(), p.transposed() * (a * p)), 1e-11);
    const CsrMatrix<double> rows = both.product.rows();
    for (std::int64_t i = 0; i < rows.rows; ++i)
      EXPECT_TRUE(std::is_sorted(rows.col_idx.begin() + rows.row_ptr[i],
                                 rows.col_idx.begin() + rows.row_ptr[i + 1]));
  }
}

TEST(AcrossRanks, SomeAggregatesHaveNodesOfSeveralRanks) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank has no neighbours";
  const BothWays both(test::generated("mesh2d", 22), {}, {.smoothed = false});
  EXPECT_GT(sum_over_ranks(MPI_COMM_WORLD, std::ssize(both.ranks.columns.ghosts)), 0);
}

TEST(AcrossRanks, ARankWithoutNeighboursCopiesNothing) {
  // A path on each rank, whose first node belongs to no other one.
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::int32_t each = 40;
  std::vector<test::Entry> entries;
  Starts starts{0};
  for (std::int32_t r = 0; r < ranks; ++r) {
    for (std::int32_t i = r * each; i < (r + 1) * each; ++i) {
      if (i > r * each) entries.emplace_back(i, i - 1, -1.0);
      entries.emplace_back(i, i, 2.0);
      if (i + 1 < (r + 1) * each) entries.emplace_back(i, i + 1, -1.0);
    }
    starts.push_back((r + 1) * each);
  }
  const CsrMatrix<double> whole = test::matrix_of(ranks * each, ranks * each, entries);
  const auto matrix = distributed(MPI_COMM_WORLD, whole, starts);
  const ExtendedRows rows(MPI_COMM_WORLD, *matrix, 1);
  EXPECT_EQ(rows.view().local.values.data(), matrix->blocks.local.values.data());
  const Coarsening c = coarsen(rows, {}, {});
  const TripleProduct product(rows, c.p.view(), c.columns);
  const DenseMatrix p(c.p.view()), a(matrix->blocks.local.view());
  EXPECT_LT(difference(DenseMatrix(product.coarse().view()), p.transposed() * (a * p)), 1e-12);
  // P^T with the places of its entries, the pattern of A P, and the coarse matrix.
  const std::int64_t pattern = multiply(matrix->blocks.local.view(), c.p.view()).nnz();
  EXPECT_LE(product.bytes(), 16 * c.p.nnz() + 4 * pattern + 12 * product.coarse().nnz() +
                                 4 * (2 * c.p.cols + each) + 64);
}

TEST(AcrossRanks, TentativeProlongatorReproducesTheModes) {
  const std::int64_t n = 6;
  const NearNullspace modes = rigid_body(n);
  const BothWays both(test::generated("elasticity3d", n), modes,
                      {.threshold = 0.25, .smoothed = false, .block_size = 3});
  const DenseMatrix p = both.p();
  const Array<double> coarse = gathered(both.ranks.coarse_modes.values);
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (int m = 0; m < 6; ++m) {
      long double sum = 0;
      for (std::int64_t j = 0; j < p.cols; ++j) sum += p(i, j) * coarse[j * 6 + m];
      EXPECT_NEAR(static_cast<double>(sum), modes.values[i * 6 + m], 1e-12);
    }
}

TEST(AcrossRanks, SmoothedProlongatorReproducesConstantsOfAZeroRowSumMatrix) {
  CsrMatrix<double> a = test::generated("mesh2d", 22);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double others = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] != i) others += a.values[k];
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) a.values[k] = -others;
  }
  const BothWays both(a, {}, {.threshold = 0.25});
  const DenseMatrix p = both.p();
  for (std::int64_t i = 0; i < p.rows; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < p.cols; ++j) sum += p(i, j);
    EXPECT_NEAR(static_cast<double>(sum), 1, 1e-13);
  }
}

TEST(AcrossRanks, CoarseMatrixIsRepairedAsOnOneRank) {
  // Zero row sums, and P reproduces constants, so that the last coarse matrix is zero but for
  // rounding.
  const CsrMatrix<double> a = test::matrix_of(4, 4,
                                              {{0, 0, 1},
                                               {0, 1, -1},
                                               {1, 0, -1},
                                               {1, 1, 2},
                                               {1, 2, -1},
                                               {2, 1, -1},
                                               {2, 2, 2},
                                               {2, 3, -1},
                                               {3, 2, -1},
                                               {3, 3, 1}});
  const CoarsenRules rules{.threshold = 0, .aggressive = true};
  BothWays both(a, {}, rules);
  const TripleProduct one(test::without_ghosts(a), both.one.p.view());
  EXPECT_GT(one.repaired(), 0);
  for (const bool renewed : {false, true}) {
    SCOPED_TRACE(renewed);
    if (renewed) both.product.renew(both.rows, both.ranks.p.view());
    EXPECT_EQ(sum_over_ranks(MPI_COMM_WORLD, both.product.repaired()), one.repaired());
    EXPECT_LT(difference(both.coarse(), DenseMatrix(one.coarse().view())), 1e-12);
  }
}

TEST(AcrossRanks, AWholeLevelIsTheMatrixOfOneRank) {
  const CsrMatrix<double> a = test::generated("mesh2d", 22);
  const Starts starts = uneven(a.rows, 1);
  const auto mine = distributed(MPI_COMM_WORLD, a, starts);
  const Replication replication(MPI_COMM_WORLD, starts);
  const auto whole = replication.whole(*mine);
  EXPECT_EQ(whole->blocks.local.row_ptr, a.row_ptr);
  EXPECT_EQ(whole->blocks.local.col_idx, a.col_idx);
  EXPECT_EQ(whole->blocks.local.values, a.values);
  CsrMatrix<double> changed = a;
  for (double& value : changed.values) value *= 3;
  replication.renew(*distributed(MPI_COMM_WORLD, changed, starts), *whole);
  EXPECT_EQ(whole->blocks.local.values, changed.values);
}

// As GPUs hand them over: rows with global columns, in place of the blocks of a matrix.
TEST(AcrossRanks, RowsWithGlobalColumnsBecomeTheMatrixOfOneRank) {
  const CsrMatrix<double> a = test::generated("mesh2d", 22);
  const Starts starts = uneven(a.rows, 1);
  const int rank = rank_of(MPI_COMM_WORLD);
  const std::int32_t begin = a.row_ptr[starts[rank]], end = a.row_ptr[starts[rank + 1]];
  CsrMatrix<double> rows{.rows = starts[rank + 1] - starts[rank],
                         .cols = a.cols,
                         .col_idx = {a.col_idx.begin() + begin, a.col_idx.begin() + end},
                         .values = {a.values.begin() + begin, a.values.begin() + end}};
  for (std::int64_t i = 0; i < rows.rows; ++i)
    rows.row_ptr.push_back(a.row_ptr[starts[rank] + i + 1] - begin);
  const CsrMatrix<double> whole = Replication(MPI_COMM_WORLD, starts).whole(rows);
  EXPECT_EQ(whole.row_ptr, a.row_ptr);
  EXPECT_EQ(whole.col_idx, a.col_idx);
  EXPECT_EQ(whole.values, a.values);
}

// As GPUs hand them over: the rows that travel, one after the other, and their values again.
TEST(AcrossRanks, PackedRowsTravelAsThoseOfAMatrix) {
  const auto a = generated(MPI_COMM_WORLD, "mesh2d", 22);
  const CsrMatrix<double>& m = a->blocks.local;
  Array<std::int32_t> global(m.cols);
  std::iota(global.begin(), global.end(), static_cast<std::int32_t>(a->first_row()));
  CsrMatrix<double> packed{.rows = 0, .cols = m.cols, .col_idx = {}, .values = {}};
  for (const std::int32_t row : a->halo.send_rows) {
    for (std::int32_t k = m.row_ptr[row]; k < m.row_ptr[row + 1]; ++k) {
      packed.col_idx.push_back(m.col_idx[k]);
      packed.values.push_back(m.values[k]);
    }
    packed.row_ptr.push_back(static_cast<std::int32_t>(packed.col_idx.size()));
    ++packed.rows;
  }
  HaloPlan plan = a->halo;
  std::iota(plan.send_rows.begin(), plan.send_rows.end(), 0);
  GhostRows expected(MPI_COMM_WORLD, a->halo, m.view(), global);
  GhostRows made(MPI_COMM_WORLD, plan, packed.view(), global);
  EXPECT_EQ(made.rows().row_ptr, expected.rows().row_ptr);
  EXPECT_EQ(made.rows().col_idx, expected.rows().col_idx);
  EXPECT_EQ(made.columns(), expected.columns());
  EXPECT_EQ(made.rows().values, expected.rows().values);
  Array<double> twice = expected.rows().values;
  for (double& value : twice) value *= 2;
  for (double& value : packed.values) value *= 2;
  made.forget_values();
  made.renew(packed.view());
  EXPECT_EQ(made.rows().values, twice);
}

TEST(AcrossRanks, RenewedCoarseMatrixIsThatOfAFreshBuild) {
  for (const Example& e : examples()) {
    if (e.name != "twice" && e.name != "modes" && e.name != "one-way edges") continue;
    SCOPED_TRACE(e.name);
    CsrMatrix<double> changed = e.a;
    for (std::size_t k = 0; k < changed.values.size(); ++k)
      changed.values[k] *= 1 + 0.01 * to_unit(split_mix(k, 7));
    BothWays both(e.a, e.modes, e.rules);
    const Starts starts = uneven(e.a.rows, e.rules.block_size);
    both.matrix = distributed(MPI_COMM_WORLD, changed, starts);
    both.rows.renew(*both.matrix);
    renew(both.ranks, both.rows);
    both.product.renew(both.rows, both.ranks.p.view());
    const Array<double> renewed = both.product.rows().values;
    const TripleProduct fresh(both.rows, both.ranks.p.view(), both.ranks.columns,
                              both.ranks.coarse_block_size);
    EXPECT_EQ(renewed, fresh.rows().values);
    renew(both.one, test::without_ghosts(changed));
    EXPECT_LT(difference(both.p(), DenseMatrix(both.one.p.view())), 1e-10);
  }
}

TEST(AcrossRanks, NewBordersChangeNoLevelAndHardlyTheIterations) {
  struct Case {
    const char* kind;
    std::int64_t n, block;
  };
  for (const auto& [kind, n, block] :
       {Case{"poisson2d", 50, 1}, Case{"poisson3d", 14, 1}, Case{"diffusion3d", 13, 1},
        Case{"mesh2d", 45, 1}, Case{"elasticity3d", 7, 3}, Case{"elasticity3d-shuffled", 7, 3}}) {
    SCOPED_TRACE(kind);
    const auto whole = generated(MPI_COMM_SELF, kind, n, block);
    const auto parts = generated(MPI_COMM_WORLD, kind, n, block);
    Options options = small_levels();
    options.block_size = static_cast<std::int32_t>(block);
    Hierarchy on_one(whole, {}, options), on_ranks(parts, {}, options);
    ASSERT_EQ(on_one.levels().size(), on_ranks.levels().size());
    for (std::size_t l = 0; l < on_one.levels().size(); ++l) {
      EXPECT_EQ(on_one.levels()[l].rows, on_ranks.levels()[l].rows);
      EXPECT_EQ(on_one.levels()[l].nnz, on_ranks.levels()[l].nnz);
    }
    const test::CgResult one = solve_by_cg(whole, on_one), ranks = solve_by_cg(parts, on_ranks);
    EXPECT_TRUE(ranks.converged);
    EXPECT_NEAR(ranks.iterations, one.iterations, 1);
  }
}

TEST(AcrossRanks, HierarchiesHaveTheSameBitsTwice) {
  const auto a = generated(MPI_COMM_WORLD, "mesh2d", 40);
  Hierarchy first(a, {}, small_levels()), second(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 3);
  EXPECT_EQ(applied(first, r), applied(second, r));
}

TEST(AcrossRanks, RenewedHierarchyIsTheSameAsBuiltAgain) {
  for (const bool modes : {false, true}) {
    const std::int64_t n = 7;
    const CsrMatrix<double> whole =
        test::generated(modes ? "elasticity3d" : "mesh2d", modes ? n : 40);
    const std::int64_t block = modes ? 3 : 1;
    const Starts starts = uneven(whole.rows, block);
    const auto a = distributed(MPI_COMM_WORLD, whole, starts);
    const NearNullspace near = modes ? part(rigid_body(n), starts) : NearNullspace{};
    Options options = small_levels();
    options.threshold = 0;  // so that the aggregates do not depend on the values
    options.block_size = static_cast<std::int32_t>(block);
    options.aggressive_levels = modes ? 0 : 1;
    Hierarchy m(a, near, options);
    const Array<double> r = random_rows(*a, 3);
    const Array<double> first = applied(m, r);
    Array<double> changed = values_of(*a);
    for (double& value : changed) value *= value > 0 ? 1.1 : 0.95;
    a->replace_values(changed);
    m.renew();
    Hierarchy again(a, near, options);
    EXPECT_EQ(applied(m, r), applied(again, r));
    EXPECT_NE(gathered(applied(m, r)), gathered(first));
  }
}

TEST(AcrossRanks, LevelsOfFewerRowsThanRanksConverge) {
  const CsrMatrix<double> whole = test::generated("mesh2d", 24);
  const auto a = distributed(MPI_COMM_WORLD, whole, uneven(whole.rows, 1));
  Options options;
  options.coarsest_rows = 2;
  options.replicated_rows = 0;
  Hierarchy m(a, {}, options);
  EXPECT_LE(m.levels().back().rows, 2);
  test::expect_symmetric_and_definite(*a, m);
  EXPECT_TRUE(solve_by_cg(a, m).converged);
}

TEST(AcrossRanks, ARowThatHasNoDiagonalIsRefusedOnEveryRank) {
  CsrMatrix<double> whole = test::generated("mesh2d", 24);
  for (std::int32_t k = whole.row_ptr[500]; k < whole.row_ptr[501]; ++k)
    if (whole.col_idx[k] == 500) whole.values[k] = 0;
  const auto a = distributed(MPI_COMM_WORLD, whole, uneven(whole.rows, 1));
  EXPECT_THROW(Hierarchy(a, {}, small_levels()), Error);
}

}  // namespace
}  // namespace trireme::multigrid
