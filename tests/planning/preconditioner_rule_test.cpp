// SPDX-License-Identifier: BSD-3-Clause
// When a change of the preconditioner pays, by figures computed by hand.
#include "planning/preconditioner_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trireme {
namespace {

using Options = std::vector<PreconditionerOption>;

// Norms that fall by `rate` decades in each of `iterations` iterations.
std::vector<double> falling(double rate, int iterations, double from = 1) {
  std::vector<double> norms;
  for (int k = 0; k <= iterations; ++k) norms.push_back(from * std::pow(10.0, -rate * k));
  return norms;
}

// An iteration of Jacobi takes 1 ms. Multigrid takes 50 ms to set up, and 8 decades take it 16
// iterations of 5 ms.
Options jacobi_and_multigrid() {
  return {{}, {.set_up_seconds = 0.05, .iteration_seconds = 0.005, .rate = 0.5}};
}

// The rule after `iterations` of Jacobi with this rate.
PreconditionerRule after(double rate, int iterations, Options options = jacobi_and_multigrid()) {
  PreconditionerRule rule(std::move(options));
  rule.observe(falling(rate, iterations), 0.001 * iterations);
  return rule;
}

SolveOutlook outlook(double rate, int iterations, std::int64_t solves_after = 0) {
  return {.decades_left = 8 - rate * iterations,
          .decades_whole = 8,
          .solves_after = solves_after,
          .iterations = iterations,
          .seconds = 0.001 * iterations};
}

TEST(RecentRate, LeavesOutTheFirstThirdAndLooksAtTheSmallestNorms) {
  EXPECT_NEAR(recent_rate(falling(0.25, 12)), 0.25, 1e-12);
  // No progress in the first third, half a decade per iteration afterwards, with peaks.
  const std::vector<double> norms = {1, 1, 3, 1, 1, 0.1, 5, 0.01, 7, 0.001, 9, 0.001, 0.001};
  EXPECT_NEAR(recent_rate(norms), 3.0 / 8, 1e-12);
  EXPECT_NEAR(recent_rate(std::vector<double>{1, 0.1, 0.01, 0.001, 0.5}), 2.0 / 3, 1e-12);
  EXPECT_EQ(recent_rate(std::vector<double>{1, 2, 3, 4}), 0);
  EXPECT_EQ(recent_rate(std::vector<double>{1}), 0);
  EXPECT_EQ(recent_rate({}), 0);
}

TEST(PreconditionerRule, StaysWithJacobiWhereItsRestIsShort) {
  // 8 decades at 0.2 per iteration: 40 ms, against 130 ms.
  const PreconditionerRule rule = after(0.2, 10);
  EXPECT_FALSE(rule.next(outlook(0.2, 10)));
}

TEST(PreconditionerRule, ChangesWhereTheRestIsLongerThanSetUpAndMultigrid) {
  // 8 decades at 0.02 per iteration: 400 ms, of which the rest is trusted to be at least 272 ms.
  const PreconditionerRule rule = after(0.02, 60);
  EXPECT_EQ(rule.next(outlook(0.02, 60)), 1u);
}

TEST(PreconditionerRule, DoesNotTrustARateFarBeyondItsPast) {
  // 10 times 8 iterations take 80 ms at most, and multigrid takes 130 ms.
  const PreconditionerRule rule = after(0.001, 8);
  SolveOutlook patient = outlook(0.001, 8);
  patient.seconds = 1;
  EXPECT_FALSE(rule.next(patient));
  EXPECT_TRUE(after(0.001, 60).next(outlook(0.001, 60)));
}

TEST(PreconditionerRule, CountsTheSolvesAhead) {
  // One solve: 100 ms by Jacobi. Multigrid: 50 ms once and 80 ms per solve.
  const PreconditionerRule rule = after(0.08, 10);
  EXPECT_FALSE(rule.next(outlook(0.08, 10)));
  EXPECT_FALSE(rule.next(outlook(0.08, 10, 2)));
  // 101 solves: 10.1 s by Jacobi, 80 % of it trusted, against 8.1 s by multigrid.
  EXPECT_FALSE(rule.next(outlook(0.08, 10, 100)));
  // 2 iterations more per decade make the difference.
  const PreconditionerRule slower = after(0.06, 10);
  EXPECT_FALSE(slower.next(outlook(0.06, 10)));
  EXPECT_EQ(slower.next(outlook(0.06, 10, 100)), 1u);
}

TEST(PreconditionerRule, IsSilentBeforeTheFirstLook) {
  PreconditionerRule rule(jacobi_and_multigrid());
  rule.observe(falling(0.001, 7), 7);
  EXPECT_FALSE(rule.next(outlook(0.001, 7, 1000)));
}

TEST(PreconditionerRule, WaitsInTheFirstSolveUntilItHasTakenTheTimeOfTheSetUp) {
  Options dear = jacobi_and_multigrid();
  dear[1].set_up_seconds = 1;
  dear[1].iteration_seconds = 1e-6;
  // 320 s are expected of Jacobi.
  PreconditionerRule rule(dear);
  rule.observe(falling(0.0001, 50), 0.2);
  SolveOutlook now = {.decades_left = 8, .decades_whole = 8, .iterations = 50, .seconds = 0.9};
  EXPECT_FALSE(rule.next(now));
  now.seconds = 1.1;
  EXPECT_TRUE(rule.next(now));
  // Ten such solves take at least 1.1 s where the first has taken 0.11 s.
  now.seconds = 0.09;
  now.solves_after = 9;
  EXPECT_FALSE(rule.next(now));
  now.seconds = 0.11;
  EXPECT_TRUE(rule.next(now));
  // What a whole solve takes is known after the first one.
  rule.solved(100, 8, 2);
  EXPECT_TRUE(rule.next({.decades_whole = 8, .solves_after = 1}));
}

TEST(PreconditionerRule, GoesBackFromAnOptionThatDoesNotConverge) {
  PreconditionerRule rule = after(0.02, 38);
  rule.changed_to(1, 0.06);
  EXPECT_DOUBLE_EQ(rule.options()[1].set_up_seconds, 0.06);
  SolveOutlook now = outlook(0.02, 38);
  rule.observe(falling(0.01, 3), 0.015);
  EXPECT_FALSE(rule.next(now)) << "three iterations say little";
  rule.observe(falling(0.01, 5), 0.025);
  now.iterations = 43;
  EXPECT_EQ(rule.next(now), 0u);
  rule.failed(1, "its rate was 0.01");
  rule.changed_to(0, 0);
  EXPECT_FALSE(rule.next(now)) << "what has failed is not tried again";
  EXPECT_EQ(rule.why_not(1, now), "its rate was 0.01");
}

TEST(PreconditionerRule, StaysWithAnOptionThatKeepsItsPromise) {
  PreconditionerRule rule = after(0.02, 38);
  rule.changed_to(1, 0.05);
  rule.observe(falling(0.5, 6), 0.03);
  SolveOutlook now = outlook(0.02, 38);
  now.decades_left -= 3;
  EXPECT_FALSE(rule.next(now));
}

// The first iterations of Jacobi had promised 20 ms, where multigrid takes 80.
TEST(PreconditionerRule, WhatHasSolvedIsHardlyLeftForWhatHadNot) {
  PreconditionerRule rule = after(0.4, 10);
  rule.changed_to(1, 0.05);
  rule.observe(falling(0.5, 16), 0.08);
  SolveOutlook between{.decades_whole = 8, .solves_after = 10};
  EXPECT_EQ(rule.next(between), 0u);
  rule.converged();
  EXPECT_FALSE(rule.next(between));
  between.stale = true;
  EXPECT_EQ(rule.next(between), 0u) << "its values are old";
  between.stale = false;
  rule.observe(falling(0.5, 16), 0.24);
  EXPECT_EQ(rule.next(between), 0u) << "it takes 12 times as long";
}

// Of an option that has never run 4 times the rate of Jacobi's first iterations is expected.
TEST(PreconditionerRule, WhatHasSolvedIsLeftForAPromiseThatIsLargeOnly) {
  for (const double iteration_seconds : {0.005, 0.009}) {
    Options options = jacobi_and_multigrid();
    options.push_back(
        {.set_up_seconds = 0, .iteration_seconds = iteration_seconds, .rate_of_first = 4});
    PreconditionerRule rule = after(0.2, 10, options);
    rule.changed_to(1, 0.05);
    rule.observe(falling(0.5, 16), 0.16);
    // 160 ms by multigrid; 50 or 90 ms are promised.
    const SolveOutlook between{.decades_whole = 8, .solves_after = 10};
    EXPECT_TRUE(rule.next(between));
    rule.converged();
    EXPECT_EQ(rule.next(between).has_value(), iteration_seconds == 0.005);
    // The promise counts in full where Jacobi has solved.
    rule.changed_to(0, 0);
    rule.solved(40, 8, 1);
    rule.changed_to(1, 0);
    rule.observe(falling(0.5, 16), 0.16);
    EXPECT_EQ(rule.next(between), 2u);
  }
}

TEST(PreconditionerRule, TakesTheOptionWithTheGreatestGain) {
  Options options = jacobi_and_multigrid();
  options.push_back({.set_up_seconds = 0.02, .iteration_seconds = 0.0025, .rate_of_first = 4});
  // 4 s by Jacobi, 2.5 s by Chebyshev, 0.13 s by multigrid.
  EXPECT_EQ(after(0.002, 100, options).next(outlook(0.002, 100)), 1u);
  options[1].failure = "multigrid does not run on GPUs";
  EXPECT_EQ(after(0.002, 100, options).next(outlook(0.002, 100)), 2u);
}

TEST(PreconditionerRule, SaysAfterHowManySolvesASetUpHasPaid) {
  // 400 ms by Jacobi, 80 ms by multigrid.
  EXPECT_EQ(after(0.02, 38).pays_after(1, 0, 8), 1);
  // 100 ms against 80 ms: 50 ms pay after 3 solves.
  EXPECT_EQ(after(0.08, 10).pays_after(1, 0, 8), 3);
  EXPECT_EQ(after(0.08, 10).why_not(1, outlook(0.08, 10)),
            "not tried: its set-up would pay after 3 solves");
  EXPECT_FALSE(after(0.2, 10).pays_after(1, 0, 8)) << "40 ms against 80 ms";
  EXPECT_EQ(after(0.2, 10).why_not(1, outlook(0.2, 10)),
            "not tried: a solve would take 2 times the time");
}

TEST(PreconditionerRule, AWholeSolveBoundsNoOtherOptionByItsFirstIterations) {
  Options options = jacobi_and_multigrid();
  options[1].failure = "not here";
  options.push_back({.iteration_seconds = 0.005, .rate_of_first = 4});
  PreconditionerRule rule = after(0.02, 38, options);
  rule.solved(400, 8, 0.4);
  // 400 iterations of 1 ms against 100 of 5 ms.
  EXPECT_DOUBLE_EQ(rule.solve_seconds(2, 8).value(), 0.5);
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 100}));
}

TEST(PreconditionerRule, AWholeSolveSaysMoreThanARate) {
  PreconditionerRule rule = after(0.02, 38);
  rule.solved(100, 8, 0.1);
  EXPECT_DOUBLE_EQ(rule.solve_seconds(0, 8).value(), 0.1);
  const SolveOutlook between = {.decades_whole = 8, .solves_after = 2};
  EXPECT_FALSE(rule.next(between)) << "200 ms against 50 ms and 160 ms";
  PreconditionerRule longer = after(0.02, 38);
  longer.solved(400, 8, 0.4);
  EXPECT_EQ(longer.next(between), 1u);
}

TEST(PreconditionerRule, KeepsWhatWasMeasured) {
  PreconditionerRule rule = after(0.02, 38);
  rule.predict(0, 1, 1);
  EXPECT_DOUBLE_EQ(rule.options()[0].iteration_seconds, 0.001);
  rule.changed_to(1, 0.06);
  rule.predict(1, 9, 0.004);
  EXPECT_DOUBLE_EQ(rule.options()[1].set_up_seconds, 0.06);
  EXPECT_DOUBLE_EQ(rule.options()[1].iteration_seconds, 0.004);
}

TEST(PreconditionerRule, LearnsFromAWholeSolveAlone) {
  PreconditionerRule rule(jacobi_and_multigrid());
  rule.solved(400, 8, 0.4);
  EXPECT_FALSE(rule.next({.decades_left = 1, .decades_whole = 8})) << "50 ms against 60 ms";
  EXPECT_EQ(rule.next({.decades_whole = 8, .solves_after = 100}), 1u);
}

TEST(PreconditionerRule, DoesNotPayForASetUpTwice) {
  PreconditionerRule rule = after(0.02, 38);
  rule.changed_to(1, 0.05);
  rule.observe(falling(0.5, 6), 0.03);
  // 25 ms by Jacobi, 5 ms by multigrid.
  EXPECT_FALSE(rule.next({.decades_left = 0.5, .decades_whole = 8, .iterations = 44}));
}

// Jacobi promised 20 ms for the rest and then took 4 s for a whole solve; multigrid, which had been
// left at 4 decades in 8 iterations of 5 ms, would take 80 ms.
PreconditionerRule after_a_promise_that_failed() {
  PreconditionerRule rule = after(0.02, 38);
  rule.changed_to(1, 0.05);
  rule.observe(falling(0.5, 8), 0.04);
  rule.leave("left");
  rule.changed_to(0, 0);
  return rule;
}

TEST(PreconditionerRule, TakesWhatItLeftAgainWhereTheFirstOneTookLonger) {
  PreconditionerRule rule = after_a_promise_that_failed();
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 15})) << "no whole solve is known";
  rule.solved(4000, 8, 4);
  ASSERT_EQ(rule.next({.decades_whole = 8, .solves_after = 15}), 1u);
  EXPECT_EQ(rule.why_not(1, {.decades_whole = 8}), "left");
  rule.changed_to(1, 0.05);
  EXPECT_EQ(rule.options()[1].failure, "");
  rule.observe(falling(0.001, 8), 0.04);
  rule.leave("left again");
  rule.changed_to(0, 0);
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 15})) << "once is enough";
}

TEST(PreconditionerRule, CountsTheSetUpOfWhatItTakesAgain) {
  PreconditionerRule rule = after_a_promise_that_failed();
  rule.solved(100, 8, 0.1);
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 1})) << "100 ms against 80 and 50";
}

TEST(PreconditionerRule, DoesNotGoBackToIterationsThatReducedNothing) {
  PreconditionerRule rule = after(0, 40);
  rule.changed_to(1, 0.05);
  rule.observe(falling(0.002, 400), 2);  // slow, but it converges
  rule.converged();
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 15}));
}

TEST(PreconditionerRule, DoesNotTakeAgainWhatFailed) {
  PreconditionerRule rule = after_a_promise_that_failed();
  rule.failed(1, "left: breakdown");
  rule.solved(4000, 8, 4);
  EXPECT_FALSE(rule.next({.decades_whole = 8, .solves_after = 15}));
}

TEST(PreconditionerRule, JudgesNoOptionBeforeItIsMeasured) {
  Options options = jacobi_and_multigrid();
  options[1].iteration_seconds = 1;
  PreconditionerRule rule = after(0.02, 38, options);
  rule.changed_to(1, 0.05);
  EXPECT_FALSE(rule.next(outlook(0.02, 38)));
}

TEST(PreconditionerRule, LeavesWhatItChangedToForALargerGainOnly) {
  for (const double milliseconds : {75, 65}) {
    PreconditionerRule rule = after(10 / milliseconds, 38);
    rule.changed_to(1, 0.05);
    rule.observe(falling(0.5, 6), 0.03);
    // 100 ms by multigrid.
    const SolveOutlook now = {.decades_left = 10, .decades_whole = 13, .iterations = 44};
    EXPECT_EQ(rule.next(now).has_value(), milliseconds < 70) << milliseconds;
  }
}

TEST(PreconditionerRule, TakesTheGreatestGainWhereverItStands) {
  Options options = {{}, {.set_up_seconds = 0.02, .iteration_seconds = 0.0025, .rate_of_first = 4}};
  options.push_back(jacobi_and_multigrid()[1]);
  EXPECT_EQ(after(0.002, 100, options).next(outlook(0.002, 100)), 2u);
}

TEST(PreconditionerRule, SubtractsTheSetUpOfTheOtherOption) {
  Options options = jacobi_and_multigrid();
  options[0].set_up_seconds = 0.035;
  // 100 ms against 80 ms: 15 ms pay after one solve.
  EXPECT_EQ(after(0.08, 10, options).pays_after(1, 0, 8), 1);
}

}  // namespace
}  // namespace trireme
