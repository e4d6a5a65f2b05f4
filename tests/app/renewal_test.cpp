// SPDX-License-Identifier: BSD-3-Clause
// When a sequence renews its preconditioner, by figures computed by hand.
#include "app/solves/renewal.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

constexpr double kIteration = 0.01;  // seconds

// Eight decades in so many iterations.
void solve(Renewal& renewal, std::int64_t iterations) {
  renewal.solved(iterations, 8, kIteration * static_cast<double>(iterations));
}

TEST(Renewal, IsDueWhenIterationsHaveTakenLongerThanItTakes) {
  Renewal renewal(Renew::adaptive, 0.25);
  solve(renewal, 10);
  solve(renewal, 20);
  solve(renewal, 20);
  EXPECT_EQ(renewal.due(), Renewing::nothing) << "0.2 s were lost";
  solve(renewal, 20);
  EXPECT_EQ(renewal.due(), Renewing::numbers) << "0.3 s";
  renewal.renewed(0.5);
  EXPECT_EQ(renewal.due(), Renewing::nothing);
  solve(renewal, 20);
  solve(renewal, 65);
  EXPECT_EQ(renewal.due(), Renewing::nothing) << "0.45 s beyond the 20 of a renewed one";
  solve(renewal, 30);
  EXPECT_EQ(renewal.due(), Renewing::numbers) << "0.55 s";
}

TEST(Renewal, FollowsTheRuleOfTheCase) {
  Renewal always(Renew::always, 1), never(Renew::never, 1, true);
  EXPECT_EQ(always.due(), Renewing::numbers);
  solve(never, 10);
  solve(never, 100000);
  never.renewed(0);
  solve(never, 100000);
  EXPECT_EQ(never.due(), Renewing::nothing);
}

// A renewed hierarchy needs 30 iterations and a new one 10: 0.2 s per solve.
TEST(Renewal, JudgesTheStructureByWhatARenewedOneNeeds) {
  for (const bool structure : {true, false}) {
    Renewal renewal(Renew::adaptive, 0.5, structure);
    solve(renewal, 10);
    renewal.renewed(0.1);
    solve(renewal, 30);
    solve(renewal, 30);
    EXPECT_EQ(renewal.due(), Renewing::nothing) << "0.4 s were lost by the structure";
    solve(renewal, 30);
    EXPECT_EQ(renewal.due(), structure ? Renewing::everything : Renewing::nothing);
  }
}

TEST(Renewal, CountsTheLossByOldNumbersApart) {
  Renewal renewal(Renew::adaptive, 0.5, true);
  solve(renewal, 10);
  solve(renewal, 200);  // 1.9 s by old numbers
  EXPECT_EQ(renewal.due(), Renewing::numbers);
  renewal.renewed(0.1);
  solve(renewal, 10);
  EXPECT_EQ(renewal.due(), Renewing::nothing) << "the structure is as good as new";
  solve(renewal, 11);
  solve(renewal, 200);
  EXPECT_EQ(renewal.due(), Renewing::numbers) << "again by old numbers";
}

TEST(Renewal, SumsOverRenewalsUntilEverythingIsNew) {
  Renewal renewal(Renew::adaptive, 0.5, true);
  solve(renewal, 10);
  for (int k = 0; k < 2; ++k) {
    renewal.renewed(0.1);
    solve(renewal, 30);
    EXPECT_EQ(renewal.due(), Renewing::nothing);
  }
  renewal.renewed(0.1);
  solve(renewal, 30);
  EXPECT_EQ(renewal.due(), Renewing::everything);
  renewal.set_up(0.7, true);
  EXPECT_EQ(renewal.due(), Renewing::nothing);
  // The matrix has become harder: no structure is better, and none is looked for.
  for (int k = 0; k < 10; ++k) solve(renewal, 30);
  EXPECT_EQ(renewal.due(), Renewing::nothing);
  renewal.renewed(0.1);
  solve(renewal, 95);
  EXPECT_EQ(renewal.due(), Renewing::nothing) << "0.65 s of the 0.7 s that it took";
  solve(renewal, 40);
  EXPECT_EQ(renewal.due(), Renewing::everything);
  renewal.set_up(0.1, false);
  renewal.renewed(0.1);
  solve(renewal, 10);
  solve(renewal, 10);
  EXPECT_EQ(renewal.due(), Renewing::nothing);
}

TEST(Renewal, LearnsNothingFromAShortSolve) {
  Renewal renewal(Renew::adaptive, 0.5);
  renewal.solved(1, 0.5, 0.01);
  solve(renewal, 80);
  EXPECT_EQ(renewal.due(), Renewing::nothing);
}

}  // namespace
}  // namespace trireme
