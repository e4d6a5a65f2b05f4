// SPDX-License-Identifier: BSD-3-Clause
// What the tuner tries and chooses, by hand-made figures.
#include "planning/tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace trireme {
namespace {

// The running kernel takes 100 us per product.
TunerOption running() { return {.kernel = "running", .predicted_us = 100}; }
TunerOption other(double predicted_us, double trial_seconds) {
  return {.kernel = "other", .predicted_us = predicted_us, .predicted_seconds = trial_seconds};
}

constexpr double kHour = 3600;

TEST(Tuner, TriesNothingWhereNoProductIsToCome) {
  const Tuner tuner({running(), other(10, 1e-6)});
  EXPECT_EQ(tuner.next({.seconds = kHour, .products_ahead = 0}), std::nullopt);
}

TEST(Tuner, TriesAGoodInvestmentBeforeAnyTimeWasSpent) {
  // Half of 10,000 products at 100 - 2 - 50 = 48 us are 0.24 s, and the budget is 2 % of 1 s.
  const Tuner tuner({running(), other(50, 0.015)});
  EXPECT_EQ(tuner.next({.seconds = 0, .products_ahead = 10'000}), 1U);
  const Tuner dear({running(), other(50, 0.025)});
  EXPECT_EQ(dear.next({.seconds = 0, .products_ahead = 10'000}), std::nullopt);
}

TEST(Tuner, DoesNotInvestWhatTheSolveCannotEarn) {
  // 200 products at 48 us earn 9.6 ms, half of them 4.8 ms.
  const Tuner tuner({running(), other(50, 0.005)});
  EXPECT_EQ(tuner.next({.seconds = 0, .products_ahead = 200}), std::nullopt);
  const Tuner cheap({running(), other(50, 0.003)});
  EXPECT_EQ(cheap.next({.seconds = 0, .products_ahead = 200}), 1U);
}

TEST(Tuner, TriesWhatIsSmallBesideTheTimeThatWasSpent) {
  // The gain is too small for an investment: 2.9 us in each of 500 products.
  const Tuner tuner({running(), other(118.9, 0.001)});
  EXPECT_EQ(tuner.next({.seconds = 0.04, .products_ahead = 1000}), std::nullopt);
  EXPECT_EQ(tuner.next({.seconds = 0.06, .products_ahead = 1000}), 1U);
  EXPECT_EQ(tuner.next({.seconds = 0.06, .products_ahead = 1000, .pause_seconds = 0.001}),
            std::nullopt);
}

TEST(Tuner, MakesAnOrderForWhatItEarnsWhateverTheBudgetIs) {
  TunerOption ordered = other(50, 0.001);
  ordered.order_seconds = 0.2;
  const Tuner tuner({running(), ordered});
  EXPECT_EQ(tuner.next({.seconds = 0, .products_ahead = 5000}), std::nullopt);
  EXPECT_EQ(tuner.next({.seconds = 0, .products_ahead = 9000}), 1U);
}

TEST(Tuner, NeverSpendsMoreThanTheBudget) {
  std::vector<TunerOption> options{running()};
  for (int k = 0; k < 100; ++k) options.push_back(other(60, 0.004));
  Tuner tuner(options);
  const SolveProgress progress{.seconds = 0, .products_ahead = 10'000};
  double spent = 0;
  while (const auto k = tuner.next(progress)) {
    tuner.measured(*k, 101, 0.003, 0.004);
    spent += 0.004;
  }
  EXPECT_GT(spent, 0);
  EXPECT_LE(spent, tuner.budget_seconds(progress));
  EXPECT_DOUBLE_EQ(tuner.spent_seconds(), spent);
}

TEST(Tuner, LeavesOutWhatIsPredictedToBeSlower) {
  const Tuner tuner({running(), other(130, 1e-9)});
  EXPECT_EQ(tuner.next({.seconds = kHour, .products_ahead = 1e9}), std::nullopt);
}

TEST(Tuner, CorrectsPredictionsByWhatItMeasured) {
  Tuner tuner({running(), other(50, 0.001), other(60, 0.001)});
  tuner.measured(0, 200, 0, 0);
  EXPECT_DOUBLE_EQ(tuner.expected_us(1), 50 * std::sqrt(2));
  tuner.measured(1, 25, 0, 0);  // factors 2 and 1/2
  EXPECT_DOUBLE_EQ(tuner.expected_us(2), 60);
}

TEST(Tuner, TakesTheFastestProductAndStaysWhereTheGainIsTooSmall) {
  Tuner tuner({running(), other(90, 0), other(80, 0)});
  tuner.measured(0, 100, 0, 0);
  tuner.measured(1, 98.5, 0, 0);
  EXPECT_EQ(tuner.best(), 0U);
  tuner.measured(2, 97, 0, 0);
  EXPECT_EQ(tuner.best(), 2U);
  tuner.measured(1, 90, 0, 0);
  EXPECT_EQ(tuner.best(), 1U);
}

TEST(Tuner, DoesNotTryAgainWhatFailed) {
  Tuner tuner({running(), other(50, 0.001)});
  tuner.failed(1, "GPU memory does not suffice", 0.001);
  EXPECT_EQ(tuner.next({.seconds = kHour, .products_ahead = 1e9}), std::nullopt);
  EXPECT_EQ(tuner.best(), 0U);
}

TEST(Tuner, AFailedTrialCostsWhatItTook) {
  // The budget is 2 % of 1 s.
  const SolveProgress progress{.seconds = 0, .products_ahead = 10'000};
  Tuner tuner({running(), other(50, 0.001), other(50, 0.015), other(50, 0.015)});
  EXPECT_TRUE(tuner.next(progress));
  tuner.failed(1, "GPU memory does not suffice", 0.004);
  EXPECT_DOUBLE_EQ(tuner.spent_seconds(), 0.004);
  EXPECT_EQ(tuner.next(progress), 2U);
  tuner.failed(1, "once more", 0.002);
  EXPECT_DOUBLE_EQ(tuner.spent_seconds(), 0.006);
  EXPECT_EQ(tuner.next(progress), std::nullopt) << "0.006 s and 0.015 s are beyond the budget";
}

TEST(Tuner, SaysWhatBecameOfAnOption) {
  Tuner tuner({running(), other(50, 0.001), other(50, 0.001), other(50, 0.001)});
  EXPECT_NE(tuner.verdict(0, 0).find("no trial"), std::string::npos);
  tuner.measured(0, 100, 0, 0);
  tuner.measured(1, 99, 0, 0);
  tuner.measured(2, 150, 0, 0);
  tuner.failed(3, "GPU memory does not suffice", 0);
  EXPECT_EQ(tuner.best(), 0U);
  EXPECT_EQ(tuner.verdict(0, 0), "it has the fastest product");
  EXPECT_EQ(tuner.verdict(1, 0), "not so much faster that a change would pay");
  EXPECT_EQ(tuner.verdict(2, 0), "50 % slower");
  EXPECT_EQ(tuner.verdict(3, 0), "GPU memory does not suffice");
}

TEST(Tuner, SaysWhyAnOptionWasNotTried) {
  Tuner tuner({running(), other(150, 0.001), other(50, 10)});
  EXPECT_NE(tuner.verdict(1, 0).find("1.50 times"), std::string::npos);
  EXPECT_NE(tuner.verdict(2, 0).find("cost more"), std::string::npos);
}

}  // namespace
}  // namespace trireme
