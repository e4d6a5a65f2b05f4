// SPDX-License-Identifier: BSD-3-Clause
// Thinned prolongators: what is left out, what stays, and lanes that do the same as a thread.
#include "multigrid/set_up/thinning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "multigrid/dense.hpp"
#include "multigrid/emulated_group.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/fill_guard.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/thin_row.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;
using test::without_ghosts;

struct Family {
  const char* kind;
  std::int64_t n;
  bool blocks;
};
constexpr Family kFamilies[] = {
    {"graph", 900, false}, {"mesh2d", 30, false}, {"elasticity3d", 6, true}};

struct Thinned {
  CsrMatrix<double> a;
  Coarsening before;
};
Thinned made(const Family& family) {
  Thinned t{generated(family.kind, family.n), {}};
  NearNullspace modes;
  if (family.blocks) {
    const std::vector<double> values = test::rigid_body_modes(family.n);
    modes = {.values = {values.begin(), values.end()}, .width = 6};
  }
  t.before =
      coarsen(without_ghosts(t.a), modes, {.threshold = 0.25, .block_size = family.blocks ? 3 : 1});
  return t;
}

// The norms of the runs of row i of P, by aggregate; 0 where there is none.
std::vector<double> runs_of_row(const Coarsening& c, std::int64_t i) {
  std::vector<double> squares(c.aggregates, 0.0);
  for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k)
    squares[c.p.col_idx[k] / c.coarse_block_size] += c.p.values[k] * c.p.values[k];
  return squares;
}

ThinRow functor(const CsrMatrix<double>& a, const Coarsening& c, double part,
                Array<std::uint8_t>& strong) {
  return {MatrixPointers(a),  MatrixPointers(c.p), c.aggregate_of_node.data(),
          c.rules.block_size, c.coarse_block_size, part,
          strong.data()};
}

TEST(Thinning, LeavesOutTheSmallRunsOfOtherAggregatesAndNoOthers) {
  const auto expect = [](const Family& family, double part) {
    SCOPED_TRACE(testing::Message() << family.kind << ", below " << part);
    const auto [a, before] = made(family);
    Coarsening c = before;
    ASSERT_TRUE(thin(c, without_ghosts(a), part));
    EXPECT_EQ(c.thinned, part);
    EXPECT_LT(c.p.nnz(), before.p.nnz());
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::vector<double> squares = runs_of_row(before, i);
      const double largest = *std::max_element(squares.begin(), squares.end());
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const bool was = before.strong.empty() || before.strong[k];
        const std::int32_t own = before.aggregate_of_node[i / before.rules.block_size];
        const std::int32_t other = before.aggregate_of_node[a.col_idx[k] / before.rules.block_size];
        const bool small = other >= 0 && other != own && squares[other] < part * part * largest;
        ASSERT_EQ(c.strong[k] != 0, was && !small) << "row " << i << ", entry " << k;
        dropped += was && small;
      }
      if (largest > 0) {
        ASSERT_LT(c.p.row_ptr[i], c.p.row_ptr[i + 1]);
      }
    }
    EXPECT_GT(dropped, 0);
  };
  for (const Family& family : kFamilies)
    for (const double part : {0.25, 0.95}) expect(family, part);
}

TEST(Thinning, KeepsTheConstantsOfRowsThatAddUpToZero) {
  const CsrMatrix<double> a = generated("mesh2d", 30);
  Coarsening c = coarsen(without_ghosts(a), {}, {.threshold = 0.25});
  ASSERT_TRUE(thin(c, without_ghosts(a), 0.5));
  std::int64_t checked = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0, p_sum = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.values[k];
    for (std::int32_t k = c.p.row_ptr[i]; k < c.p.row_ptr[i + 1]; ++k) p_sum += c.p.values[k];
    if (std::abs(sum) > 1e-12 || c.aggregate_of_node[i] < 0) continue;
    EXPECT_NEAR(p_sum, 1, 1e-12);
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(Thinning, ChangesNothingWhereNoRunIsSmall) {
  const auto [a, before] = made(kFamilies[1]);
  Coarsening c = before;
  EXPECT_FALSE(thin(c, without_ghosts(a), 1e-9));
  EXPECT_EQ(c.thinned, 0);
  EXPECT_EQ(c.p.values, before.p.values);
}

TEST(Thinning, StaysWhenValuesAreRenewed) {
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.kind);
    auto [a, c] = made(family);
    ASSERT_TRUE(thin(c, without_ghosts(a), 0.25));
    const Coarsening fresh = c;
    for (double& value : a.values) value *= 0x1p-20;
    for (double& value : c.p.values) value = NAN;
    renew(c, without_ghosts(a));
    EXPECT_EQ(c.p.values, fresh.p.values);
    EXPECT_EQ(c.strong, fresh.strong);
  }
}

TEST(Thinning, ByLanesIsThatByAThread) {
  for (const Family& family : kFamilies) {
    const auto [a, c] = made(family);
    const Array<std::uint8_t> all = c.strong.empty() ? Array<std::uint8_t>(a.nnz(), 1) : c.strong;
    Array<std::uint8_t> by_thread = all;
    double expected = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
      expected += by_one_thread<kLanesOfRow>(functor(a, c, 0.25, by_thread))(i);
    EXPECT_GT(expected, 0);
    for (const std::int32_t lanes : {2, 8}) {
      Array<std::uint8_t> by_lanes = all;
      double count = 0;
      test::run_group(lanes, [&](const test::EmulatedGroup& group) {
        for (std::int64_t i = 0; i < a.rows; ++i) count += functor(a, c, 0.25, by_lanes)(i, group);
      });
      EXPECT_EQ(by_lanes, by_thread) << family.kind;
      EXPECT_EQ(count, expected) << family.kind;
    }
  }
}

std::vector<double> tried(double runs_per_entry, double fits_from) {
  std::vector<double> parts;
  const bool found = find_thinning(runs_per_entry * 100, 100, [&](double part) {
    parts.push_back(part);
    return part >= fits_from;
  });
  EXPECT_EQ(found, !parts.empty() && parts.back() >= fits_from);
  return parts;
}

TEST(Thinning, DoublesThePartUntilTheCoarseMatrixFits) {
  EXPECT_EQ(tried(3, 0), (std::vector{0.0625}));
  EXPECT_EQ(tried(16, 0.2), (std::vector{0.0625, 0.125, 0.25}));
  EXPECT_EQ(tried(3, 1), (std::vector{0.0625, 0.125, 0.25, 0.5}));
  EXPECT_EQ(tried(16.1, 0.5), (std::vector{0.25, 0.5}));
}

TEST(Thinning, CountsTheRunsThatEntriesLeadTo) {
  for (const Family& family : kFamilies) {
    const auto [a, c] = made(family);
    double runs = 0;
    for (const std::int32_t j : a.col_idx)
      for (const double squares : runs_of_row(c, j)) runs += squares != 0;
    EXPECT_EQ(runs_of_terms(a.view(), c.p.view(), c.coarse_block_size), runs) << family.kind;
  }
}

TEST(Thinning, MostNonzerosHasNoOverflow) {
  EXPECT_EQ(most_nonzeros(0.7, 10), 7);
  EXPECT_EQ(most_nonzeros(0, 10), 0);
  EXPECT_GT(most_nonzeros(1e300, 1 << 30), std::int64_t{1} << 60);
}

}  // namespace
}  // namespace trireme::multigrid
