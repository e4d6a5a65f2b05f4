// SPDX-License-Identifier: BSD-3-Clause
// The levels of multigrid in every report.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/convergence.hpp"
#include "report/multigrid_words.hpp"
#include "report/report.hpp"
#include "report/sample_outcome.hpp"

namespace trireme {
namespace {

TEST(ConvergenceFactor, IsTheGeometricMeanOfTheReductions) {
  const double history[] = {8, 16, 2, 1};
  EXPECT_DOUBLE_EQ(convergence_factor(history).value(), 0.5);
}

TEST(ConvergenceFactor, IsUnknownWithoutAnIterationAndForNormsThatAreNoNumbers) {
  const double one[] = {1}, zero[] = {1, 0}, nan[] = {1, NAN}, infinite[] = {INFINITY, 1};
  EXPECT_FALSE(convergence_factor(std::span<const double>{}));
  EXPECT_FALSE(convergence_factor(one));
  EXPECT_FALSE(convergence_factor(zero));
  EXPECT_FALSE(convergence_factor(nan));
  EXPECT_FALSE(convergence_factor(infinite));
}

RunOutcome run_with_levels() { return test::sample_outcome().runs.front(); }

TEST(MultigridReport, SaysWhoHoldsALevel) {
  RunOutcome run = run_with_levels();
  EXPECT_EQ(words::level_cells(run, 0)[4], "2") << "two ranks share the finest level";
  EXPECT_EQ(words::level_cells(run, 1)[4], "each");
  run.ranks = 1;
  EXPECT_EQ(words::level_cells(run, 1)[4], "1");
}

TEST(MultigridReport, NamesTheRestOfTheSetUp) {
  const auto parts = words::parts(run_with_levels().multigrid->set_up);
  EXPECT_EQ(parts.back().first, "other");
  EXPECT_NEAR(parts.back().second, 0.0299, 1e-12);
  EXPECT_EQ(words::set_up(*run_with_levels().multigrid),
            "its set-up took 500 ms: strength 10.0 ms, aggregation 20.0 ms, prolongator 50.0 ms, "
            "products 300 ms, kernels 40.0 ms, smoothers 30.0 ms, coarsest 20.0 ms, other 29.9 ms");
}

TEST(MultigridReport, HasEveryLevelInTheTable) {
  const std::string table = terminal_table(test::sample_outcome());
  for (const char* line :
       {"  multigrid       3 levels, operator complexity 1.08, grid complexity 1.04,",
        "level    rows  nonzeros  prolongator  ranks         kernel  values  product",
        "    0  206763    16.1 M            -      2           sell    FP32  4.00 ms",
        "    1    9000    1.20 M     smoothed   each          albus    FP64   300 us",
        "    2     300    90.0 k  thinned 1/8   each  dense inverse    FP64        -"})
    EXPECT_NE(table.find(line), std::string::npos) << line << " is not in\n" << table;
  EXPECT_NE(table.find(" factor 0.94;"), std::string::npos) << table;
  EXPECT_NE(table.find("a remark"), std::string::npos) << table;
}

TEST(MultigridReport, HasEveryLevelInMarkdownAndHtml) {
  const std::string text = markdown_report(test::sample_outcome());
  EXPECT_NE(text.find("\n| 1 | 9000 | 1.20 M | smoothed | each | albus | FP64 | 300 us |\n"),
            std::string::npos)
      << text;
  const std::string page = html_report(test::sample_outcome());
  EXPECT_NE(page.find("<h2 id=\"multigrid\">"), std::string::npos);
  EXPECT_NE(page.find("dense inverse"), std::string::npos);
  EXPECT_NE(page.find("thinned 1/8"), std::string::npos);
}

TEST(MultigridReport, IsLeftOutForAnotherPreconditioner) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs.front().multigrid.reset();
  outcome.runs.front().preconditioner_choice.reset();
  EXPECT_EQ(html_report(outcome).find("id=\"multigrid\""), std::string::npos);
  EXPECT_EQ(terminal_table(outcome).find("multigrid"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(json_report(outcome))["runs"][0]["multigrid"].is_null());
}

TEST(PreconditionerChoiceReport, SaysWhatWasTakenAndWhenItHasPaid) {
  const std::string table = terminal_table(test::sample_outcome());
  EXPECT_NE(table.find(
                "  preconditioner  auto took multigrid from iteration 24 on, for 10 solves: its\n"),
            std::string::npos)
      << table;
  const std::string text = markdown_report(test::sample_outcome());
  EXPECT_NE(
      text.find("\n| multigrid | measured | 500 ms | 9.00 ms | 100 ms | 2 solves | its set-up "
                "has paid after 2 solves |\n"),
      std::string::npos)
      << text;
  EXPECT_NE(html_report(test::sample_outcome()).find("<b>multigrid ✓</b>"), std::string::npos);
  const auto run = nlohmann::json::parse(json_report(test::sample_outcome()))["runs"][0];
  EXPECT_EQ(run["preconditioner_choice"]["candidates"][0]["pays_after"], 2);
  EXPECT_TRUE(run["preconditioner_choice"]["candidates"][1]["solve_seconds"].is_null());
}

TEST(LadderReport, HasEveryRungAndWhyItCame) {
  const std::string table = terminal_table(test::sample_outcome());
  for (const char* line :
       {"  method          auto: bicgstab with jacobi, because the matrix is not\n",
        "                  iterations)\n                  then bicgstab2 with jacobi and scaling "
        "matching, because a\n"})
    EXPECT_NE(table.find(line), std::string::npos) << line << " is not in\n" << table;
  const std::string text = markdown_report(test::sample_outcome());
  EXPECT_NE(text.find("\n| bicgstab2 | jacobi | matching | a matching brings large entries to the "
                      "diagonal | 60 | 9e-09 | 50.0 ms | converged |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(html_report(test::sample_outcome()).find("<b>bicgstab2 ✓</b>"), std::string::npos);
  const auto run = nlohmann::json::parse(json_report(test::sample_outcome()))["runs"][0];
  EXPECT_EQ(run["ladder"]["rungs"][0]["solved"], false);
  EXPECT_EQ(run["ladder"]["rungs"][1]["scaling"], "matching");
}

TEST(MultigridReport, SaysWhatTheCacheHasSavedAndTaken) {
  CaseOutcome outcome = test::sample_outcome();
  MultigridOutcome& multigrid = *outcome.runs.front().multigrid;
  multigrid.read = {.building_seconds = 1.5, .saved_seconds = 1.25, .bytes = 90'000'000};
  EXPECT_TRUE(words::set_up(multigrid).ends_with(
      "; the cache had the hierarchy (90.0 MB), which saved 1.25 s"))
      << words::set_up(multigrid);
  auto json = nlohmann::json::parse(json_report(outcome))["runs"][0]["multigrid"];
  EXPECT_EQ(json["read_from_cache"]["building_seconds"], 1.5);
  EXPECT_EQ(json["read_from_cache"]["saved_seconds"], 1.25);
  EXPECT_EQ(json["read_from_cache"]["bytes"], 90'000'000);
  EXPECT_TRUE(json["kept_in_cache"].is_null());
  multigrid.read.reset();
  multigrid.kept = {.seconds = 0.125, .bytes = 90'000'000};
  EXPECT_TRUE(words::set_up(multigrid).ends_with(
      "; the cache has taken the hierarchy (90.0 MB) for later runs in 125 ms"))
      << words::set_up(multigrid);
  json = nlohmann::json::parse(json_report(outcome))["runs"][0]["multigrid"];
  EXPECT_TRUE(json["read_from_cache"].is_null());
  EXPECT_EQ(json["kept_in_cache"]["seconds"], 0.125);
  EXPECT_EQ(json["kept_in_cache"]["bytes"], 90'000'000);
}

TEST(MultigridReport, IsInTheJson) {
  const auto run = nlohmann::json::parse(json_report(test::sample_outcome()))["runs"][0];
  EXPECT_NEAR(run["convergence_factor"].get<double>(), std::pow(10.0, -8.0 / 312), 1e-12);
  EXPECT_EQ(run["multigrid"]["levels"][1]["replicated"], true);
  EXPECT_EQ(run["multigrid"]["levels"][0]["precision"], "mixed");
  EXPECT_TRUE(run["multigrid"]["levels"][0]["prolongator"].is_null());
  EXPECT_EQ(run["multigrid"]["levels"][2]["prolongator"], "thinned 1/8");
  EXPECT_DOUBLE_EQ(run["multigrid"]["set_up_seconds"]["products"], 0.3);
}

}  // namespace
}  // namespace trireme
