// SPDX-License-Identifier: BSD-3-Clause
// Tests for which costs of an iteration fewer ranks are advised, and how many.
#include "planning/rank_advice.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(RankAdvice, IsOneRankWhereNothingIsComputed) {
  const auto best = fewer_ranks({.ranks = 4, .iteration_us = 100, .compute_us = 1});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->ranks, 1);
  EXPECT_DOUBLE_EQ(best->us, 4);
  EXPECT_NE(
      advice_on_ranks({.ranks = 4, .iteration_us = 100, .compute_us = 1})
          .find("4 ranks are more than pay: of 100.0 us per iteration a rank computes for 1.0, "
                "the rest are exchanges, sums and waits; about 4.0 us are expected on 1 rank,"),
      std::string::npos);
}

TEST(RankAdvice, IsNoneWhereRanksCompute) {
  EXPECT_FALSE(fewer_ranks({.ranks = 4, .iteration_us = 100, .compute_us = 80}));
  EXPECT_FALSE(fewer_ranks({.ranks = 4, .iteration_us = 100, .compute_us = 100}));
  EXPECT_EQ(advice_on_ranks({.ranks = 4, .iteration_us = 100, .compute_us = 80}), "");
}

TEST(RankAdvice, IsNoneForASmallGain) {
  EXPECT_FALSE(fewer_ranks({.ranks = 2, .iteration_us = 10, .compute_us = 4.5}));  // 9 us on one
  EXPECT_TRUE(fewer_ranks({.ranks = 2, .iteration_us = 10, .compute_us = 3.9}));   // 7.8 us
}

// 3 64 / q + 100 log q / log 64 has its minimum at q = 3 log 64 = 8 ranks (in units of 192 / 24).
TEST(RankAdvice, IsWhereWorkAndExchangesBalance) {
  const auto best = fewer_ranks({.ranks = 64, .iteration_us = 103, .compute_us = 3});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->ranks, 8);
  EXPECT_DOUBLE_EQ(best->us, 24 + 50);
}

TEST(RankAdvice, IsNoneForOneRankAndForUnknownTimes) {
  EXPECT_FALSE(fewer_ranks({.ranks = 1, .iteration_us = 10, .compute_us = 1}));
  EXPECT_FALSE(fewer_ranks({.ranks = 4, .iteration_us = 10, .compute_us = 0}));
  EXPECT_FALSE(fewer_ranks({.ranks = 4, .iteration_us = 0, .compute_us = 1}));
}

TEST(RankAdvice, CountsThePassesOverVectorsByTheirBytes) {
  EXPECT_DOUBLE_EQ(compute_us(1, 10, 100, 0), 10 + 44);  // 88 of 20 bytes per row
  EXPECT_DOUBLE_EQ(compute_us(2, 10, 100, 700), 20 + 10 * 88.0 / 104);
  EXPECT_EQ(compute_us(1, 10, 0, 0), 0);
}

}  // namespace
}  // namespace trireme
