// SPDX-License-Identifier: BSD-3-Clause
// Patterns and numbers of incomplete factors, beside their definitions on dense matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "factors/host_sweeps.hpp"
#include "factors/numbers.hpp"
#include "factors/pattern.hpp"
#include "factors/rules.hpp"
#include "sparse/generators.hpp"
#include "support/same_bits.hpp"
#include "support/with_threads.hpp"

namespace trireme::factors {
namespace {

using Dense = std::vector<std::vector<double>>;

struct Entry {
  std::int32_t row, column;
  double value;
};

// In the order of `entries`, row by row.
CsrMatrix<double> csr(std::int64_t rows, const std::vector<Entry>& entries) {
  CsrMatrix<double> a{.rows = rows, .cols = rows, .col_idx = {}, .values = {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (const Entry& entry : entries) {
      if (entry.row != i) continue;
      a.col_idx.push_back(entry.column);
      a.values.push_back(entry.value);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

double unit(std::uint64_t number, std::uint64_t seed) { return to_unit(split_mix(number, seed)); }

// About `per_row` entries per row in no order, some of them twice, and a diagonal that is large in
// the mean.
CsrMatrix<double> random_matrix(std::int64_t rows, int per_row, std::uint64_t seed) {
  std::vector<Entry> entries;
  std::uint64_t number = 0;
  const auto next = [&] { return unit(number++, seed); };
  for (std::int32_t i = 0; i < rows; ++i) {
    for (int k = 0; k < per_row; ++k)
      entries.push_back(
          {i, static_cast<std::int32_t>(next() * static_cast<double>(rows)), next() - 0.5});
    entries.push_back({i, i, 2 + next()});
    entries.push_back({i, i, 1});
  }
  return csr(rows, entries);
}

CsrMatrix<double> generated(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec{.kind = kind, .n = n};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

// P A P^T.
Dense in_order(const CsrView<double>& a, const FactorPattern& pattern) {
  std::vector<std::int32_t> position(a.rows);
  for (std::int32_t i = 0; i < a.rows; ++i) position[pattern.row_of(i)] = i;
  Dense dense(a.rows, std::vector<double>(a.rows, 0.0));
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      dense[position[i]][position[a.col_idx[k]]] += a.values[k];
  return dense;
}

struct DenseFactors {
  Dense lower, upper;  // I + L, D (I + U)
};

DenseFactors dense_factors(const FactorPattern& pattern, const Array<double>& values) {
  const auto n = static_cast<std::size_t>(pattern.rows);
  DenseFactors of{Dense(n, std::vector<double>(n, 0.0)), Dense(n, std::vector<double>(n, 0.0))};
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = 1 / values[pattern.diagonal[i]];
    of.lower[i][i] = 1;
    of.upper[i][i] = pivot;
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e) {
      if (e < pattern.diagonal[i]) of.lower[i][pattern.col_idx[e]] = values[e];
      if (e > pattern.diagonal[i]) of.upper[i][pattern.col_idx[e]] = values[e] * pivot;
    }
  }
  return of;
}

// |(I + L) D (I + U) - P A P^T| over the sums of magnitudes, the most of the pattern's entries.
double error_on_pattern(const FactorPattern& pattern, const Array<double>& values, const Dense& a) {
  const DenseFactors of = dense_factors(pattern, values);
  double most = 0;
  for (std::int32_t i = 0; i < pattern.rows; ++i)
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e) {
      const std::int32_t j = pattern.col_idx[e];
      double sum = 0, size = std::abs(a[i][j]);
      for (std::int64_t k = 0; k < pattern.rows; ++k) {
        sum += of.lower[i][k] * of.upper[k][j];
        size += std::abs(of.lower[i][k] * of.upper[k][j]);
      }
      if (size > 0) most = std::max(most, std::abs(sum - a[i][j]) / size);
    }
  return most;
}

// Levels of fill by their definition, all columns of a row.
std::vector<std::vector<bool>> reference_pattern(const Dense& a, int levels) {
  const auto n = static_cast<int>(a.size());
  constexpr int kNever = 1000;
  std::vector<std::vector<int>> level(n, std::vector<int>(n, kNever));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (a[i][j] != 0 || i == j) level[i][j] = 0;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k) {
      if (level[i][k] > levels) continue;
      for (int j = k + 1; j < n; ++j)
        if (level[k][j] <= levels)
          level[i][j] = std::min(level[i][j], level[i][k] + level[k][j] + 1);
    }
  std::vector<std::vector<bool>> has(n, std::vector<bool>(n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) has[i][j] = level[i][j] <= levels;
  return has;
}

constexpr RowOrder kOrders[] = {RowOrder::given, RowOrder::rcm, RowOrder::colours};

TEST(FactorPattern, IsThatOfItsLevelsOfFill) {
  for (const RowOrder order : kOrders)
    for (int levels = 0; levels <= 3; ++levels) {
      const CsrMatrix<double> a = random_matrix(50, 3, 7);
      const FactorPattern pattern = make_pattern(a.view(), {.levels = levels, .order = order});
      const auto expected = reference_pattern(in_order(a.view(), pattern), levels);
      std::int64_t entries = 0;
      for (std::int32_t i = 0; i < 50; ++i) {
        EXPECT_EQ(pattern.col_idx[pattern.diagonal[i]], i);
        for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e) {
          if (e > pattern.row_ptr[i]) {
            EXPECT_LT(pattern.col_idx[e - 1], pattern.col_idx[e]);
          }
          EXPECT_TRUE(expected[i][pattern.col_idx[e]]) << i << ' ' << pattern.col_idx[e];
        }
        entries += std::ranges::count(expected[i], true);
      }
      EXPECT_EQ(pattern.nnz(), entries) << levels;
    }
}

TEST(FactorPattern, OrdersAreOfAllRows) {
  const CsrMatrix<double> a = generated("poisson3d", 8);
  for (const RowOrder order : {RowOrder::rcm, RowOrder::colours}) {
    Array<std::int32_t> rows = make_pattern(a.view(), {.order = order}).order;
    std::ranges::sort(rows);
    for (std::int32_t i = 0; i < std::ssize(rows); ++i) ASSERT_EQ(rows[i], i);
  }
  const FactorPattern coloured = make_pattern(a.view(), {.order = RowOrder::colours});
  EXPECT_EQ(coloured.lower.count(), 2);
  EXPECT_EQ(coloured.upper.count(), 2);
  EXPECT_EQ(make_pattern(a.view(), {}).lower.count(), 22) << "the planes i + j + k of a cube";
  // With fill, rows of a colour do not meet in a third row either.
  const FactorPattern filled = make_pattern(a.view(), {.levels = 1, .order = RowOrder::colours});
  EXPECT_LE(filled.lower.count(), 14);
  EXPECT_GT(filled.nnz(), coloured.nnz());
}

TEST(FactorPattern, RowsOfALevelNeedEarlierLevelsOnly) {
  const CsrMatrix<double> a = random_matrix(300, 4, 3);
  const FactorPattern pattern = make_pattern(a.view(), {.levels = 1});
  const auto check = [&](const Levels& levels, bool lower) {
    for (std::int64_t l = 0; l < levels.count(); ++l)
      for (std::int32_t at = levels.starts[l] + 1; at < levels.starts[l + 1]; ++at)
        EXPECT_EQ(levels.rows[at - 1] < levels.rows[at], lower);
    std::vector<std::int64_t> level(pattern.rows, -1);
    for (std::int64_t l = 0; l < levels.count(); ++l)
      for (std::int32_t at = levels.starts[l]; at < levels.starts[l + 1]; ++at)
        level[levels.rows[at]] = l;
    EXPECT_TRUE(std::ranges::find(level, -1) == level.end());
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
      std::int64_t most = -1;
      const std::int32_t from = lower ? pattern.row_ptr[i] : pattern.diagonal[i] + 1;
      const std::int32_t to = lower ? pattern.diagonal[i] : pattern.row_ptr[i + 1];
      for (std::int32_t e = from; e < to; ++e) most = std::max(most, level[pattern.col_idx[e]]);
      EXPECT_EQ(level[i], most + 1);
    }
  };
  check(pattern.lower, true);
  check(pattern.upper, false);
}

// Row 0 and column 0 are dense: fill would make all rows dense.
CsrMatrix<double> arrow(std::int64_t rows, bool at_end) {
  const auto n = static_cast<std::int32_t>(rows);
  const std::int32_t tip = at_end ? n - 1 : 0;
  CsrMatrix<double> a{.rows = rows, .cols = rows, .col_idx = {}, .values = {}};
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (i == j || i == tip || j == tip) {
        a.col_idx.push_back(j);
        a.values.push_back(i == j ? (i == tip ? 2.0 * n : 4.0) : -1.0);
      } else if (i != tip && j > i && j < tip) {
        j = tip - 1;
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

TEST(FactorPattern, ADenseRowMakesNoDenseMatrix) {
  for (const bool at_end : {false, true}) {
    const std::int64_t rows = 3000;
    const CsrMatrix<double> a = arrow(rows, at_end);
    const FactorPattern pattern = make_pattern(a.view(), {.levels = 2});
    EXPECT_EQ(pattern.nnz(), a.nnz());
    const Array<double> values = make_numbers(pattern, a.view(), false).values;
    for (const double value : values) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(FactorNumbers, MultiplyToAOnTheirPattern) {
  for (const RowOrder order : kOrders)
    for (int levels = 0; levels <= 2; ++levels)
      for (const std::uint64_t seed : {1u, 2u}) {
        const CsrMatrix<double> a = random_matrix(120, 4, seed);
        const FactorPattern pattern = make_pattern(a.view(), {.levels = levels, .order = order});
        const FactorNumbers made = make_numbers(pattern, a.view(), false);
        EXPECT_EQ(made.replaced, 0);
        EXPECT_EQ(made.shift, 0);
        EXPECT_LE(error_on_pattern(pattern, made.values, in_order(a.view(), pattern)), 1e-14);
      }
}

TEST(FactorNumbers, OfLongRowsAreSearchedFor) {
  const CsrMatrix<double> a = arrow(300, false);
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers made = make_numbers(pattern, a.view(), false);
  EXPECT_LE(error_on_pattern(pattern, made.values, in_order(a.view(), pattern)), 1e-14);
}

TEST(FactorNumbers, AreCompleteWhereNothingFills) {
  const CsrMatrix<double> a = csr(4, {{0, 0, 2},
                                      {0, 1, 1},
                                      {1, 0, -1},
                                      {1, 1, 3},
                                      {1, 2, 2},
                                      {2, 1, 4},
                                      {2, 2, 5},
                                      {2, 3, 1},
                                      {3, 2, 2},
                                      {3, 3, -6}});
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers made = make_numbers(pattern, a.view(), false);
  HostSweeps<double> sweeps(pattern, made);
  const Array<double> x{1, -2, 3, 0.5};
  Array<double> b(4, 0.0), z(4, NAN);
  for (std::int32_t i = 0; i < 4; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      b[i] += a.values[k] * x[a.col_idx[k]];
  sweeps.apply(b, z);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(z[i], x[i], 1e-14);
}

TEST(FactorNumbers, ReplacePivotsThatAreTooSmall) {
  // A zero, no entry at all, a row of zeros, and a pivot that elimination makes zero.
  const CsrMatrix<double> a = csr(6, {{0, 0, 0},
                                      {0, 1, 8},
                                      {1, 0, 8},
                                      {2, 2, 0},
                                      {3, 3, 1},
                                      {3, 4, 1},
                                      {4, 3, 1},
                                      {4, 4, 1},
                                      {5, 5, -1e-9},
                                      {5, 4, 4}});
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers made = make_numbers(pattern, a.view(), false);
  const auto pivot = [&](std::size_t i) { return 1 / made.values[pattern.diagonal[i]]; };
  EXPECT_EQ(pivot(0), 8 * kPivotInstead);
  EXPECT_EQ(pivot(1), -64 / (8 * kPivotInstead));
  EXPECT_EQ(pivot(2), 1);
  EXPECT_EQ(pivot(4), kPivotInstead);
  EXPECT_EQ(pivot(5), -4 * kPivotInstead);
  EXPECT_EQ(made.replaced, 4);
}

TEST(FactorNumbers, OfADefiniteMatrixAreSymmetricAndPositive) {
  const CsrMatrix<double> a = generated("elasticity3d", 4);
  for (int levels = 0; levels <= 1; ++levels) {
    const FactorPattern pattern = make_pattern(a.view(), {.levels = levels});
    const FactorNumbers made = make_numbers(pattern, a.view(), true);
    const DenseFactors of = dense_factors(pattern, made.values);
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
      EXPECT_GT(of.upper[i][i], 0);
      for (std::int32_t e = pattern.diagonal[i] + 1; e < pattern.row_ptr[i + 1]; ++e)
        EXPECT_EQ(made.values[e], of.lower[pattern.col_idx[e]][i]);
    }
    EXPECT_EQ(made.replaced, 0);
  }
}

// Positive definite, and without fill its last pivot is negative (Kershaw 1978).
TEST(FactorNumbers, AddToTheDiagonalUntilPivotsArePositive) {
  const CsrMatrix<double> a = csr(4, {{0, 0, 3},
                                      {0, 1, -2},
                                      {0, 3, 2},
                                      {1, 0, -2},
                                      {1, 1, 3},
                                      {1, 2, -2},
                                      {2, 1, -2},
                                      {2, 2, 3},
                                      {2, 3, -2},
                                      {3, 0, 2},
                                      {3, 2, -2},
                                      {3, 3, 3}});
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers plain = make_numbers(pattern, a.view(), false);
  EXPECT_LT(plain.values[pattern.diagonal[3]], 0);
  const FactorNumbers made = make_numbers(pattern, a.view(), true);
  EXPECT_GT(made.shift, 0);
  EXPECT_EQ(made.replaced, 0);
  for (const std::int32_t e : pattern.diagonal) EXPECT_GT(made.values[e], 0);
  // The shift before it did not suffice.
  CsrMatrix<double> less = a;
  for (std::int32_t i = 0; i < 4; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) less.values[k] *= 1 + made.shift / 2;
  const FactorNumbers before = make_numbers(pattern, less.view(), false);
  EXPECT_TRUE(
      std::ranges::any_of(pattern.diagonal, [&](std::int32_t e) { return before.values[e] < 0; }));
}

// The constants are its null space: the last pivot is rounding, and spoils no other row.
TEST(FactorNumbers, ReplaceTheLastPivotOfASingularMatrixAndShiftNothing) {
  std::vector<Entry> entries;
  const std::int32_t n = 40;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -1});
    entries.push_back({i, i, i == 0 || i == n - 1 ? 1.0 : 2.0});
    if (i < n - 1) entries.push_back({i, i + 1, -1});
  }
  const CsrMatrix<double> a = csr(n, entries);
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers made = make_numbers(pattern, a.view(), true);
  EXPECT_EQ(made.shift, 0);
  EXPECT_EQ(made.replaced, 1);
  EXPECT_DOUBLE_EQ(made.values[pattern.diagonal[n - 1]], 1 / kPivotInstead);
  for (const std::int32_t e : pattern.diagonal) EXPECT_GT(made.values[e], 0);
}

TEST(FactorNumbers, OfAnIndefiniteMatrixArePositiveNevertheless) {
  const CsrMatrix<double> a =
      csr(3, {{0, 0, -1}, {0, 1, 5}, {1, 0, 5}, {1, 2, 1}, {2, 1, 1}, {2, 2, 1e-3}});
  const FactorPattern pattern = make_pattern(a.view(), {});
  const FactorNumbers made = make_numbers(pattern, a.view(), true);
  EXPECT_GT(made.replaced, 0);
  for (const std::int32_t e : pattern.diagonal) EXPECT_GT(made.values[e], 0);
}

// M = (I + L) D (I + U) in the rows of A, and z with M z = r.
template <class Value>
double error_of_sweeps(const CsrView<double>& a, const IluChoice& choice) {
  const FactorPattern pattern = make_pattern(a, choice);
  const FactorNumbers made = make_numbers(pattern, a, false);
  HostSweeps<Value> sweeps(pattern, made);
  Array<double> values = made.values;
  for (std::int32_t i = 0; i < pattern.rows; ++i)
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e)
      if (e != pattern.diagonal[i]) values[e] = static_cast<double>(static_cast<Value>(values[e]));
  const DenseFactors of = dense_factors(pattern, values);
  const auto n = static_cast<std::size_t>(a.rows);
  Array<double> r(n), z(n, NAN);
  for (std::size_t i = 0; i < n; ++i) r[i] = unit(i, 9) - 0.5;
  sweeps.apply(r, z);
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, size = std::abs(r[pattern.row_of(i)]);
    for (std::size_t k = 0; k < n; ++k) {
      if (of.lower[i][k] == 0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        const double term = of.lower[i][k] * of.upper[k][j] * z[pattern.row_of(j)];
        sum += term;
        size += std::abs(term);
      }
    }
    most = std::max(most, std::abs(sum - r[pattern.row_of(i)]) / size);
  }
  return most;
}

TEST(HostSweeps, SolveByTheFactors) {
  for (const RowOrder order : kOrders)
    for (int levels = 0; levels <= 1; ++levels) {
      const CsrMatrix<double> a = random_matrix(150, 3, 5);
      const IluChoice choice{.levels = levels, .order = order};
      EXPECT_LE(error_of_sweeps<double>(a.view(), choice), 1e-13);
      EXPECT_LE(error_of_sweeps<float>(a.view(), choice), 1e-13);
    }
}

// Wide levels, so that threads share them.
TEST(HostSweeps, HaveTheSameBitsForAnyNumberOfThreads) {
  const CsrMatrix<double> a = generated("poisson27", 24);
  Array<double> expected;
  for (const int threads : {1, 2, 5}) {
    const test::WithThreads of_scope(threads);
    const FactorPattern pattern = make_pattern(a.view(), {.order = RowOrder::colours});
    const FactorNumbers made = make_numbers(pattern, a.view(), false);
    HostSweeps<float> sweeps(pattern, made);
    Array<double> r(a.rows), z(a.rows, NAN);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = unit(i, 2);
    sweeps.apply(r, z);
    z.insert(z.end(), made.values.begin(), made.values.end());
    if (expected.empty()) expected = z;
    EXPECT_TRUE(test::same_bits(z, expected)) << threads;
  }
}

TEST(HostSweeps, ServeEmptyAndSmallMatrices) {
  const CsrMatrix<double> none{.rows = 0, .cols = 0, .col_idx = {}, .values = {}};
  EXPECT_EQ(error_of_sweeps<double>(none.view(), {}), 0);
  const CsrMatrix<double> one = csr(1, {{0, 0, -4}});
  EXPECT_EQ(error_of_sweeps<double>(one.view(), {.order = RowOrder::rcm}), 0);
  const CsrMatrix<double> empty_row = csr(3, {{0, 0, 2}, {2, 0, 1}, {2, 2, 3}});
  EXPECT_LE(error_of_sweeps<float>(empty_row.view(), {.order = RowOrder::colours}), 1e-15);
}

TEST(HostSweeps, ServeAllScales) {
  for (const double scale : {1e-290, 1e290}) {
    CsrMatrix<double> a = random_matrix(60, 3, 4);
    for (double& value : a.values) value *= scale;
    const FactorPattern pattern = make_pattern(a.view(), {});
    const FactorNumbers made = make_numbers(pattern, a.view(), false);
    EXPECT_EQ(made.replaced, 0);
    HostSweeps<double> sweeps(pattern, made);
    Array<double> r(60, scale), z(60, NAN);
    sweeps.apply(r, z);
    for (const double value : z) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_LT(std::abs(value), 1e3);
    }
  }
}

}  // namespace
}  // namespace trireme::factors
