// SPDX-License-Identifier: BSD-3-Clause
// A rank's own rows and their borders are the matrices of all ranks. Run on 1, 2, 3 and 5 ranks.
#include "multigrid/ranks/rank_levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>

#include "multigrid/on_ranks.hpp"
#include "multigrid/ranks/coarse_vector.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;
using test::small_levels;

// What an exchange brings by the plan.
Array<double> exchanged(const HaloPlan& plan, std::span<const double> x) {
  Array<double> packed(plan.send_rows.size()), ghosts(plan.ghosts);
  for (std::size_t k = 0; k < packed.size(); ++k) packed[k] = x[plan.send_rows[k]];
  HaloExchange exchange(MPI_COMM_WORLD, plan, packed, ghosts);
  exchange.begin();
  exchange.end();
  return ghosts;
}

Array<double> product(const CsrView<double>& m, std::span<const double> x) {
  Array<double> y(m.rows, 0.0);
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k)
      y[i] += m.values[k] * x[m.col_idx[k]];
  return y;
}

void add(const BorderRows& border, std::span<const double> x, std::span<double> y) {
  for (std::size_t k = 0; k < border.rows.size(); ++k)
    for (std::int32_t j = border.row_ptr[k]; j < border.row_ptr[k + 1]; ++j)
      y[border.rows[k]] += border.values[j] * x[border.columns[j]];
}

void expect_near(std::span<const double> y, std::span<const double> expected) {
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << i;
}

Array<double> random(std::int64_t count, std::uint64_t seed) {
  Array<double> x(count);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = to_unit(split_mix(i + 1000 * static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD)), seed));
  return x;
}

class RankLevels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank has no borders";
    const bool elastic = GetParam() == "elasticity3d";
    const std::int64_t block = elastic ? 3 : 1;
    a = generated(MPI_COMM_WORLD, GetParam(),
                  elastic                 ? 8
                  : GetParam() == "graph" ? 3000
                                          : 20,
                  block);
    Options options = small_levels();
    options.precision = Precision::full;
    options.block_size = static_cast<std::int32_t>(block);
    m.emplace(a, NearNullspace{}, options);
    parts = m->rank_parts();
    levels = rank_levels(parts);
    ASSERT_FALSE(levels.empty());
    ASSERT_FALSE(parts.whole.empty());
  }

  std::shared_ptr<DistributedMatrix> a;
  std::optional<Hierarchy> m;
  HostRankParts parts;
  std::vector<RankLevel> levels;
};

TEST_P(RankLevels, AreTheMatrixOfAllRanks) {
  const Array<double> x = random(a->local_rows(), 1);
  Array<double> expected(x.size());
  HostOperator(a, "csr").multiply(x, expected);
  const RankLevel& finest = levels.front();
  Array<double> y = product(finest.parts.a, x);
  add(finest.a, exchanged(finest.halo, x), y);
  expect_near(y, expected);
}

TEST_P(RankLevels, AreTheTransfersOfAllRanks) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    SCOPED_TRACE(l);
    const RankLevel& level = levels[l];
    const HostRankLevel& of = parts.distributed[l];
    EXPECT_EQ(level.to_whole, l + 1 == levels.size());
    CoarseVector coarse(*of.columns);
    const std::int64_t own = of.columns->own();

    const Array<double> r = random(level.parts.rows, 2);
    const Array<double> terms = product(of.parts.restriction, r);
    std::copy(terms.begin(), terms.end(), coarse.values().begin());
    Array<double> sums(own), b;
    coarse.add_up(sums);
    if (level.to_whole) {
      b = product(level.parts.restriction, r);
      const Array<double> others = exchanged(level.gathering.plan, b);
      Array<double> whole(of.columns->starts.back(), 0.0);
      for (std::size_t i = 0; i < whole.size(); ++i)
        for (std::int32_t k = level.gathering.row_ptr[i]; k < level.gathering.row_ptr[i + 1]; ++k) {
          const std::int32_t source = level.gathering.sources[k];
          whole[i] +=
              source < level.gathering.terms ? b[source] : others[source - level.gathering.terms];
        }
      b = whole;
      const std::span<const double> mine = std::span(whole).subspan(of.columns->first(), own);
      expect_near(mine, sums);
    } else {
      b = product(level.parts.restriction, r);
      Array<double> sent(level.others.rows.size(), 0.0);
      add(level.others, r, sent);
      add(level.received, exchanged(level.back, sent), b);
      expect_near(b, sums);
    }

    if (level.to_whole) {
      coarse.take_from_whole(b);
      expect_near(product(level.parts.p, b), product(of.parts.p, coarse.values()));
    } else {
      coarse.take(b);
      Array<double> y = product(level.parts.p, b);
      add(level.p, exchanged(level.p_halo, b), y);
      expect_near(y, product(of.parts.p, coarse.values()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RankLevels, testing::Values("poisson3d", "elasticity3d", "graph"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace trireme::multigrid
