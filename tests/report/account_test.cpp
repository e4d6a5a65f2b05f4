// SPDX-License-Identifier: BSD-3-Clause
// The account against figures computed by hand.
#include "report/account.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "report/account_words.hpp"
#include "report/figures.hpp"
#include "report/multigrid_words.hpp"
#include "report/report.hpp"

namespace trireme {
namespace {

RunOutcome run_of(const std::string& kernel, double build, double product_us,
                  std::int64_t products = 200) {
  RunOutcome run;
  run.kernel = kernel;
  run.seconds = {.read = 5, .build = build, .setup = 7, .solve = 9};
  run.kernel_us = {
      .count = products, .mean = 1, .median = product_us, .p95 = 1, .min = 1, .max = 1};
  return run;
}

// Totals in ms:        10     100    1000   10000 products
//   csr  0 + 100 us     1      10     100    1000
//   sell 6 ms + 50 us   6.5    11      56     506
//   teb  90 ms + 40 us 90.4    94     130     490
CaseOutcome three_kernels() {
  CaseOutcome outcome;
  outcome.runs = {run_of("csr", 0, 100), run_of("sell", 0.006, 50), run_of("teb", 0.09, 40)};
  return outcome;
}

TEST(Account, TotalsAreTheInvestmentAndTheProducts) {
  const Account account = account_of(three_kernels());
  ASSERT_EQ(account.entries.size(), 3u);
  EXPECT_DOUBLE_EQ(total_seconds(account.entries[0].cost, 10), 1e-3);
  EXPECT_DOUBLE_EQ(total_seconds(account.entries[1].cost, 10), 6.5e-3);
  EXPECT_DOUBLE_EQ(total_seconds(account.entries[1].cost, 1000), 56e-3);
  EXPECT_DOUBLE_EQ(total_seconds(account.entries[2].cost, 10000), 490e-3);
}

TEST(Account, TheCheapestChangesWithTheProducts) {
  EXPECT_EQ(account_of(three_kernels()).cheapest, (std::array<std::size_t, 4>{0, 0, 1, 2}));
}

// 6 ms / 50 us = 120, 90 ms / 60 us = 1500, 84 ms / 10 us = 8400.
TEST(Account, BreakEvensAreBetweenEveryTwoKernels) {
  const auto e = account_of(three_kernels()).entries;
  EXPECT_EQ(pays_after(e[1], e[0]), 120);
  EXPECT_EQ(pays_after(e[2], e[0]), 1500);
  EXPECT_EQ(pays_after(e[2], e[1]), 8400);
  EXPECT_EQ(pays_after(e[0], e[1]), std::nullopt);
  EXPECT_EQ(pays_after(e[1], e[2]), std::nullopt);
}

// 200 products cost 20 ms by csr, 16 ms by sell, 98 ms by teb.
TEST(Account, HindsightNamesTheBestForTheProductsOfTheRun) {
  const Account account = account_of(three_kernels());
  ASSERT_EQ(account.hindsight.size(), 3u);
  for (const Hindsight& h : account.hindsight) {
    EXPECT_EQ(h.products, 200);
    EXPECT_EQ(h.best, 1u);
    EXPECT_DOUBLE_EQ(h.best_seconds, 16e-3);
  }
  EXPECT_DOUBLE_EQ(account.hindsight[0].seconds, 20e-3);
  EXPECT_DOUBLE_EQ(account.hindsight[2].seconds, 98e-3);
}

TEST(Account, CountsOrderAndUploadBeforeTheFirstProductAndTuningInHindsightOnly) {
  CaseOutcome outcome;
  outcome.runs = {run_of("sell", 0.006, 50)};
  outcome.runs[0].seconds.order = 0.01;
  outcome.runs[0].seconds.upload = 0.02;
  outcome.runs[0].seconds.tune = 0.04;
  outcome.runs[0].ordering = "rcm";
  const Account account = account_of(outcome);
  EXPECT_EQ(account.entries[0].name, "sell (rcm)");
  EXPECT_DOUBLE_EQ(account.entries[0].cost.preprocessing_seconds, 0.036);
  EXPECT_DOUBLE_EQ(account.hindsight[0].seconds, 0.086);
  EXPECT_DOUBLE_EQ(account.hindsight[0].best_seconds, 0.046);
}

// The trial measured sell, which the run measured better, csr, and no teb.
CaseOutcome one_tuned() {
  CaseOutcome outcome;
  outcome.runs = {run_of("sell", 0.006, 50)};
  outcome.runs[0].seconds.upload = 0.001;
  outcome.runs[0].trial =
      TrialOutcome{.candidates = {{.kernel = "sell",
                                   .build_seconds = 0.007,
                                   .product_us = 55,
                                   .chosen = true,
                                   .verdict = ""},
                                  {.kernel = "csr",
                                   .ordering = "rcm",
                                   .build_seconds = 0.0,
                                   .product_us = 20,
                                   .verdict = ""},
                                  {.kernel = "teb", .predicted_us = 1, .verdict = ""}},
                   .expected_from = "",
                   .changed_at = 0};
  return outcome;
}

TEST(Account, HasEveryMeasuredCandidateOnce) {
  const Account account = account_of(one_tuned());
  ASSERT_EQ(account.entries.size(), 2u);
  EXPECT_FALSE(account.entries[0].from_trial);
  EXPECT_DOUBLE_EQ(account.entries[0].cost.product_us, 50);
  EXPECT_EQ(account.entries[1].name, "csr (rcm)");
  EXPECT_TRUE(account.entries[1].from_trial);
  EXPECT_DOUBLE_EQ(account.entries[1].cost.preprocessing_seconds, 0.001);
}

TEST(Account, HindsightStaysWithinThePrecisionOfTheRun) {
  CaseOutcome outcome = three_kernels();
  outcome.runs[1].precision = Precision::mixed;
  const Account account = account_of(outcome);
  EXPECT_EQ(account.entries[account.hindsight[0].best].name, "csr");
  EXPECT_EQ(account.entries[account.hindsight[1].best].name, "sell-mixed");
}

TEST(Account, LeavesOutRunsWithoutATimedProduct) {
  CaseOutcome outcome = three_kernels();
  outcome.runs[0].kernel_us = {};
  const Account account = account_of(outcome);
  EXPECT_EQ(account.entries.size(), 2u);
  EXPECT_EQ(account.hindsight.size(), 2u);
  EXPECT_TRUE(account_of(CaseOutcome{}).entries.empty());
}

TEST(Account, IsOneLineOfTheTable) {
  EXPECT_EQ(words::account_line(three_kernels()),
            "account: cheapest over 10 and 100 products: csr; over 1000: sell; over 10000: teb");
  EXPECT_EQ(words::account_line(one_tuned()),
            "account: reading 5.00 s, building 6.00 ms, upload 1.00 ms, set-up 7.00 s, iterating "
            "9.00 s; cheapest over 10, 100, 1000 and 10000 products: csr (rcm); for the 200 "
            "products of auto-sell, csr (rcm) would have cost 12.0 ms (71 %) less");
  CaseOutcome best = one_tuned();
  best.runs[0].trial->candidates[1].product_us = 300;
  EXPECT_NE(words::account_line(best).find("; auto-sell was the best choice for its 200 products"),
            std::string::npos);
  EXPECT_EQ(words::account_line(CaseOutcome{}), "");
}

TEST(Account, OfTheStartNamesTheRest) {
  EXPECT_EQ(words::start({.libraries = 0.21, .device = 0.001, .read = 0.28, .total = 0.5}),
            "first iteration 0.5 s after the start: libraries 0.21, reading 0.28, other 0.009");
  EXPECT_EQ(words::start({}), "");
}

// A part of the bars and lines for each figure of report.json, and "other" for a total.
template <class Owner>
void expect_a_part_for_each_figure() {
  const json::Figures<Owner>& figures = json::figures<Owner>();
  const std::vector<words::Part> parts = words::parts(Owner());
  ASSERT_EQ(parts.size(), figures.size());
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    EXPECT_EQ(parts[k].first == "other", std::string_view(figures[k].name) == "total");
    EXPECT_TRUE(names.insert(parts[k].first).second) << parts[k].first;
  }
}

TEST(Account, HasAPartForEachFigureOfATime) {
  expect_a_part_for_each_figure<Seconds>();
  expect_a_part_for_each_figure<StartSeconds>();
  expect_a_part_for_each_figure<MultigridSetUp>();
  const std::string page = html_report(one_tuned());
  for (const words::Part& part : words::parts(Seconds()))
    EXPECT_NE(page.find(fmt::format(">{}</th>", part.first)), std::string::npos) << part.first;
}

TEST(Account, IsInTheJson) {
  using Json = nlohmann::json;
  const Json account = Json::parse(json_report(three_kernels()))["account"];
  EXPECT_EQ(account["products"], Json({10, 100, 1000, 10000}));
  EXPECT_EQ(account["cheapest"], Json({"csr", "csr", "sell", "teb"}));
  EXPECT_EQ(account["kernels"][2]["name"], "teb");
  EXPECT_EQ(account["kernels"][2]["from"], "run");
  EXPECT_EQ(account["kernels"][2]["pays_after"], Json::parse(R"({"csr": 1500, "sell": 8400})"));
  EXPECT_TRUE(account["kernels"][0]["pays_after"]["teb"].is_null());
  EXPECT_DOUBLE_EQ(account["kernels"][1]["total_seconds"][1], 11e-3);
  EXPECT_EQ(account["hindsight"][0]["run"], "csr");
  EXPECT_EQ(account["hindsight"][0]["best"], "sell");
  EXPECT_DOUBLE_EQ(account["hindsight"][0]["best_seconds"], 16e-3);
}

}  // namespace
}  // namespace trireme
