// SPDX-License-Identifier: BSD-3-Clause
// The prolongator keeps what it promises: near-nullspace, row sums, pattern, renewal, bits.
#include "multigrid/set_up/coarsen.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "multigrid/dense.hpp"
#include "multigrid/set_up/strength.hpp"
#include "multigrid/set_up/triple_product.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

using test::DenseMatrix;
using test::difference;
using test::generated;
using test::without_ghosts;

NearNullspace rigid_body(std::int64_t n) {
  const std::vector<double> values = test::rigid_body_modes(n);
  NearNullspace modes;
  modes.values.assign(values.begin(), values.end());
  modes.width = 6;
  return modes;
}

// P times the coarse modes less the fine modes, in the rows that have an aggregate.
double error_of_modes(const Coarsening& c, const NearNullspace& modes, std::int32_t block_size) {
  double worst = 0;
  for (std::int64_t i = 0; i < c.p.rows; ++i) {
    if (c.aggregate_of_node[i / block_size] < 0) continue;
    for (std::int32_t m = 0; m < modes.width; ++m) {
      double sum = 0;
      for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k)
        sum += c.p.values[k] * c.coarse_modes.values[c.p.col_idx[k] * modes.width + m];
      worst = std::max(worst, std::abs(sum - modes.values[i * modes.width + m]));
    }
  }
  return worst;
}

struct Scaled {
  const char* kind;
  std::int64_t n;
  std::int32_t block;
};

double row_sum(const CsrMatrix<double>& a, std::int64_t i) {
  double sum = 0;
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.values[k];
  return sum;
}

TEST(Prolongator, ReproducesConstantsWhereTheRowSumIsZero) {
  for (const char* kind : {"poisson2d", "poisson27", "mesh2d"}) {
    const auto a = generated(kind, 14);
    const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
    std::int64_t checked = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (std::abs(row_sum(a, i)) > 1e-12 || c.aggregate_of_node[i] < 0) continue;
      EXPECT_NEAR(row_sum(c.p, i), 1, 1e-13) << kind << " row " << i;
      ++checked;
    }
    EXPECT_GT(checked, 100) << kind;
  }
}

TEST(Prolongator, AddsWeakEntriesToTheDiagonalSoThatRowSumsStay) {
  // A circle with a weak chord from each row: without it, the rows do not add up to 0.
  std::vector<test::Entry> entries;
  const int n = 24;
  for (int i = 0; i < n; ++i) {
    entries.push_back({i, i, 2.2});
    entries.push_back({i, (i + 1) % n, -1.0});
    entries.push_back({i, (i + n - 1) % n, -1.0});
    entries.push_back({i, (i + n / 2) % n, -0.2});
  }
  const auto a = test::matrix_of(n, n, entries);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.5});
  ASSERT_FALSE(c.strong.empty());
  for (int i = 0; i < n; ++i) EXPECT_NEAR(row_sum(c.p, i), 1, 1e-14);
  // The chords are dropped: A_F is 2 - 1 - 1, whose spectral radius over the diagonal is 2.
  EXPECT_NEAR(c.spectral_radius, 2, 0.02);
}

TEST(Prolongator, DoesNotSmoothARowThatDroppedEntriesLeaveWithoutDiagonal) {
  // Pairs of rows. Row 0 has a weak entry for each of the other pairs, which add up to twice its
  // diagonal.
  std::vector<test::Entry> entries;
  const int pairs = 11;
  for (int i = 0; i < 2 * pairs; ++i) {
    entries.push_back({i, i, 1.0});
    entries.push_back({i, i ^ 1, -1.0});
    if (i == 0)
      for (int other = 2; other < 2 * pairs; other += 2) entries.push_back({0, other, -0.2});
    else if (i % 2 == 0)
      entries.push_back({i, 0, -0.2});
  }
  const auto a = test::matrix_of(2 * pairs, 2 * pairs, entries);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  ASSERT_FALSE(c.strong.empty());
  EXPECT_EQ(filtered_diagonal({without_ghosts(a), c.strong})[0],
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(row_sum(c.p, 0), 1);
}

TEST(Prolongator, TentativeOneReproducesRigidBodyModes) {
  const std::int64_t n = 7;
  const auto a = generated("elasticity3d", n);
  const NearNullspace modes = rigid_body(n);
  const Coarsening c =
      coarsen(without_ghosts(a), modes, {.threshold = 0.25, .smoothed = false, .block_size = 3});
  EXPECT_EQ(c.coarse_block_size, 6);
  EXPECT_EQ(c.p.cols, 6 * c.aggregates);
  EXPECT_LT(error_of_modes(c, modes, 3), 1e-13);
  // Columns are orthonormal.
  const DenseMatrix p(c.p.view());
  const DenseMatrix gram = p.transposed() * p;
  for (std::int64_t i = 0; i < gram.rows; ++i)
    for (std::int64_t j = 0; j < gram.cols; ++j)
      EXPECT_NEAR(static_cast<double>(gram(i, j)), i == j, 1e-13);
}

TEST(Prolongator, SmoothedOneReproducesRigidBodyModesAwayFromTheClampedFace) {
  const std::int64_t n = 7;
  const auto a = generated("elasticity3d", n);
  NearNullspace modes = rigid_body(n);
  const Coarsening c = coarsen(without_ghosts(a), modes, {.threshold = 0, .block_size = 3});
  for (std::int64_t i = 0; i < 3 * n * n; ++i)  // the nodes beside the clamped face
    for (int m = 0; m < 6; ++m) modes.values[i * 6 + m] = 0;
  double worst = 0;
  for (std::int64_t i = 3 * n * n; i < a.rows; ++i)
    for (int m = 0; m < 6; ++m) {
      double sum = 0;
      for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k)
        sum += c.p.values[k] * c.coarse_modes.values[c.p.col_idx[k] * 6 + m];
      worst = std::max(worst, std::abs(sum - modes.values[i * 6 + m]));
    }
  EXPECT_LT(worst, 1e-12);
}

TEST(Prolongator, HasOneColumnPerUnknownWithoutModes) {
  const auto a = generated("elasticity3d", 5);
  const Coarsening c =
      coarsen(without_ghosts(a), {}, {.threshold = 0, .smoothed = false, .block_size = 3});
  EXPECT_EQ(c.coarse_block_size, 3);
  EXPECT_EQ(c.coarse_modes.width, 0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k)
      EXPECT_EQ(c.p.values[k],
                c.p.col_idx[k] == 3 * c.aggregate_of_node[i / 3] + i % 3 ? 1.0 : 0.0);
}

TEST(Prolongator, MatchesTheFormulaOnDenseMatrices) {
  // P = (I - 4/3 / rho D^-1 A) T, where nothing is dropped.
  const auto a = generated("poisson3d", 6);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0});
  DenseMatrix t(a.rows, c.aggregates);
  for (std::int64_t i = 0; i < a.rows; ++i) t(i, c.aggregate_of_node[i]) = 1;
  DenseMatrix smoother(a.view());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.rows; ++j)
      smoother(i, j) = (i == j) - 4.0L / 3 / c.spectral_radius / 6 * smoother(i, j);
  EXPECT_LT(difference(DenseMatrix(c.p.view()), smoother * t), 1e-15);
}

TEST(Prolongator, HasTheAggregatesOfStrongNeighboursAsColumns) {
  const auto a = generated("mesh2d", 20);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.3});
  ASSERT_FALSE(c.strong.empty());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::set<std::int32_t> expected;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (c.strong[k]) expected.insert(c.aggregate_of_node[a.col_idx[k]]);
    const auto row =
        std::span(c.p.col_idx).subspan(c.p.row_ptr[i], c.p.row_ptr[i + 1] - c.p.row_ptr[i]);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), expected.begin(), expected.end())) << i;
  }
}

TEST(Prolongator, GivesNoNaNWhereModesDependOnEachOther) {
  // Constants twice, a zero mode, and a mode of a huge scale.
  const auto a = generated("poisson2d", 9);
  NearNullspace modes;
  modes.width = 4;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (const double value : {1.0, 3.0, 0.0, 1e300 * static_cast<double>(i + 1)})
      modes.values.push_back(value);
  const Coarsening c = coarsen(without_ghosts(a), modes, {.threshold = 0.25, .smoothed = false});
  for (const double value : c.p.values) EXPECT_TRUE(std::isfinite(value));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sums[4] = {};
    for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k)
      for (int m = 0; m < 4; ++m)
        sums[m] += c.p.values[k] * c.coarse_modes.values[c.p.col_idx[k] * 4 + m];
    EXPECT_NEAR(sums[0], 1, 1e-13);
    EXPECT_NEAR(sums[1], 3, 1e-13);
    EXPECT_EQ(sums[2], 0);
    EXPECT_NEAR(sums[3] / 1e300, static_cast<double>(i + 1), 1e-12 * static_cast<double>(i + 1));
  }
}

TEST(Prolongator, RenewedIsThatOfAFreshBuild) {
  for (const bool blocks : {false, true}) {
    auto a = generated(blocks ? "elasticity3d" : "lognormal", blocks ? 6 : 900);
    const NearNullspace modes = blocks ? rigid_body(6) : NearNullspace{};
    const CoarsenRules rules{.threshold = 0.25, .block_size = blocks ? 3 : 1};
    Coarsening c = coarsen(without_ghosts(a), modes, rules);
    for (std::int64_t i = 0; i < a.rows; ++i)  // a power of two changes no strength
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) a.values[k] *= 0.25;
    const Coarsening fresh = coarsen(without_ghosts(a), modes, rules);
    for (double& value : c.p.values) value = NAN;
    renew(c, without_ghosts(a));
    EXPECT_EQ(c.p.values, fresh.p.values);
    EXPECT_EQ(c.spectral_radius, fresh.spectral_radius);
    a.values[0] *= 1.5;
    renew(c, without_ghosts(a));
    EXPECT_NE(c.p.values, fresh.p.values);
  }
}

// A filtered diagonal is compared with the diagonal of its row, whatever the unit of the values is.
TEST(Prolongator, HasTheSameBitsForValuesInAnyUnit) {
  for (const Scaled& problem :
       {Scaled{"poisson3d", 8, 1}, Scaled{"mesh2d", 24, 1}, Scaled{"diffusion3d", 10, 1},
        Scaled{"elasticity3d", 6, 3}, Scaled{"blocks", 4, 5}}) {
    const auto a = generated(problem.kind, problem.n);
    const CoarsenRules rules{.threshold = 0.25, .block_size = problem.block};
    const NearNullspace modes = problem.block == 3 ? rigid_body(problem.n) : NearNullspace{};
    const Coarsening c = coarsen(without_ghosts(a), modes, rules);
    for (const int exponent : {-900, -300, -20, 40, 900}) {
      SCOPED_TRACE(testing::Message() << problem.kind << " times 2^" << exponent);
      auto scaled = a;
      for (double& value : scaled.values) value = std::ldexp(value, exponent);
      const Coarsening s = coarsen(without_ghosts(scaled), modes, rules);
      EXPECT_EQ(s.aggregate_of_node, c.aggregate_of_node);
      EXPECT_EQ(s.strong, c.strong);
      EXPECT_EQ(s.spectral_radius, c.spectral_radius);
      EXPECT_EQ(s.p.col_idx, c.p.col_idx);
      EXPECT_EQ(s.p.values, c.p.values);
      const TripleProduct coarse(without_ghosts(a), c.p.view(), c.coarse_block_size),
          coarse_scaled(without_ghosts(scaled), s.p.view(), s.coarse_block_size);
      EXPECT_EQ(coarse_scaled.repaired(), coarse.repaired());
      Array<double> expected = coarse.coarse().values;
      for (double& value : expected) value = std::ldexp(value, exponent);
      EXPECT_EQ(coarse_scaled.coarse().values, expected);
    }
  }
}

TEST(Prolongator, HasTheSameBitsForAnyNumberOfThreads) {
  for (const bool blocks : {false, true}) {
    const auto a = generated(blocks ? "elasticity3d" : "poisson3d", blocks ? 9 : 20);
    const NearNullspace modes = blocks ? rigid_body(9) : NearNullspace{};
    const CoarsenRules rules{.threshold = 0.25, .block_size = blocks ? 3 : 1};
    const trireme::test::WithThreads one(1);
    const Coarsening first = coarsen(without_ghosts(a), modes, rules);
    const trireme::test::WithThreads three(3);
    const Coarsening second = coarsen(without_ghosts(a), modes, rules);
    EXPECT_EQ(first.p.values, second.p.values);
    EXPECT_EQ(first.p.col_idx, second.p.col_idx);
    EXPECT_EQ(first.coarse_modes.values, second.coarse_modes.values);
    EXPECT_EQ(first.spectral_radius, second.spectral_radius);
  }
}

TEST(SpectralRadius, OfPoissonIsKnown) {
  // rho(D^-1 A) = 1 + cos(pi / (n + 1)).
  const auto a = generated("poisson2d", 31);
  const Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0});
  const double exact = 1 + std::cos(M_PI / 32);
  EXPECT_LE(c.spectral_radius, exact + 1e-12);
  EXPECT_GT(c.spectral_radius, 0.93 * exact);
}

TEST(Coarsen, TakesDegenerateMatrices) {
  const auto empty = test::matrix_of(0, 0, {});
  EXPECT_EQ(coarsen(without_ghosts(empty), {}, {}).aggregates, 0);
  const auto one = test::matrix_of(1, 1, {{0, 0, 3.0}});
  const Coarsening single = coarsen(without_ghosts(one), {}, {});
  EXPECT_EQ(single.aggregates, 0);
  EXPECT_EQ(single.p.nnz(), 0);
  std::vector<test::Entry> diagonal;
  for (int i = 0; i < 50; ++i) diagonal.push_back({i, i, i % 2 ? 1.0 : -1e-300});
  EXPECT_EQ(coarsen(without_ghosts(test::matrix_of(50, 50, diagonal)), {}, {}).aggregates, 0);
  // Stored zeros connect nothing.
  const auto zeros = test::matrix_of(2, 2, {{0, 0, 1.0}, {0, 1, 0.0}, {1, 0, 0.0}, {1, 1, 1.0}});
  EXPECT_EQ(coarsen(without_ghosts(zeros), {}, {}).aggregates, 0);
}

TEST(Coarsen, GivesFiniteProlongatorsForDifficultMatrices) {
  std::vector<CsrMatrix<double>> all;
  for (const auto& [kind, n] : {std::pair{"arrow", 400}, std::pair{"lognormal", 500},
                                std::pair{"convection3d", 8}, std::pair{"graph", 400}})
    all.push_back(generated(kind, n));
  auto positive = generated("poisson27", 8);
  for (double& value : positive.values) value = std::abs(value);
  all.push_back(positive);
  for (const double scale : {1e-300, 1e300}) {
    auto scaled = generated("poisson3d", 8);
    for (double& value : scaled.values) value *= scale;
    all.push_back(scaled);
    auto blocks = generated("blocks", 4);
    for (double& value : blocks.values) value *= scale;
    all.push_back(blocks);
  }
  for (const auto& a : all)
    for (const double threshold : {0.0, 0.25}) {
      const bool blocks = a.rows == 320;
      const Coarsening c =
          coarsen(without_ghosts(a), {}, {.threshold = threshold, .block_size = blocks ? 5 : 1});
      EXPECT_GT(c.aggregates, 0);
      EXPECT_LT(c.aggregates * c.coarse_block_size, a.rows / 2);
      for (const double value : c.p.values) {
        ASSERT_TRUE(std::isfinite(value));
        ASSERT_LT(std::abs(value), 20);
      }
    }
}

std::string message_of(const CsrMatrix<double>& a, const CoarsenRules& rules = {}) {
  try {
    LocalRows rows = without_ghosts(a);
    rows.first_row = 100;
    coarsen(rows, {}, rules);
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "";
}

TEST(Coarsen, RefusesUnfitRowsByTheirNumber) {
  auto a = generated("poisson2d", 40);
  a.values[a.row_ptr[700]] = NAN;
  a.values[a.row_ptr[900]] = INFINITY;
  EXPECT_EQ(message_of(a), "3 multigrid needs finite values; row 800 (from 0) has infinity or NaN");
  const auto missing = test::matrix_of(2, 2, {{0, 0, 1.0}, {1, 0, 1.0}});
  EXPECT_EQ(message_of(missing),
            "3 multigrid needs a diagonal without zeros; that of row 101 (from 0) is zero or "
            "missing");
  EXPECT_EQ(message_of(test::matrix_of(1, 1, {{0, 0, 0.0}})).substr(0, 2), "3 ");
}

TEST(Coarsen, RefusesBlockSizesThatDoNotFit) {
  const auto a = generated("poisson2d", 5);
  EXPECT_EQ(message_of(a, {.block_size = 3}),
            "2 the 25 rows of a rank are no multiple of the block size 3 of multigrid");
  EXPECT_EQ(message_of(a, {.block_size = 0}).substr(0, 2), "2 ");
}

TEST(Coarsen, RefusesModesThatAreNotFinite) {
  const auto a = generated("poisson2d", 5);
  NearNullspace modes;
  modes.width = 2;
  modes.values.assign(50, 1.0);
  modes.values[31] = NAN;
  EXPECT_THROW(coarsen(without_ghosts(a), modes, {}), Error);
}

}  // namespace
}  // namespace trireme::multigrid
