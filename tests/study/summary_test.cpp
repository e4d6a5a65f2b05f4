// SPDX-License-Identifier: BSD-3-Clause
// Ratios and means against figures that were computed by hand.
#include "study/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "report/report.hpp"
#include "report/sample_outcome.hpp"
#include "study/record.hpp"
#include "study/render.hpp"
#include "study/study_folder.hpp"

namespace trireme::study {
namespace {

Setting setting(const std::string& key, const std::string& text) { return {key, text, text, ""}; }

Result result(const std::string& problem, const std::string& kernel, double product) {
  Result r;
  r.settings = {setting("problem.generate", problem), setting("kernel", kernel)};
  r.record = Record{};
  r.finding.rows = 10;
  r.finding.nnz = 30;
  r.finding.figures["product"] = product;
  return r;
}

Result failed(const std::string& problem, const std::string& kernel) {
  Result r = result(problem, kernel, 0);
  r.finding = {};
  r.failure = "signal 11";
  r.reason = "signal 11 (Segmentation fault)";
  return r;
}

Study study() {
  Study s;
  s.baseline = {setting("kernel", "csr")};
  return s;
}

TEST(Summary, HasTheRatiosAndMeansOfAComputationByHand) {
  // Ratios of albus: 8 / 2 = 4 and 9 / 9 = 1, whose geometric mean is 2.
  const Summary s = summarise(study(), {result("a", "csr", 8), result("a", "albus", 2),
                                        result("b", "csr", 9), result("b", "albus", 9)});
  EXPECT_EQ(s.variants, (std::vector<std::string>{"csr", "albus"}));
  EXPECT_EQ(s.baseline, "csr");
  const Table& table = s.tables.at(0);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].label, "a");
  EXPECT_EQ(table.rows[0].nnz, 30);
  EXPECT_DOUBLE_EQ(*table.rows[0].cells[1].ratio, 4);
  EXPECT_DOUBLE_EQ(*table.rows[1].cells[1].ratio, 1);
  EXPECT_DOUBLE_EQ(*table.rows[1].cells[0].ratio, 1);
  EXPECT_NEAR(table.means[1].geometric, 2, 1e-12);
  EXPECT_DOUBLE_EQ(table.means[1].least, 1);
  EXPECT_DOUBLE_EQ(table.means[1].greatest, 4);
  EXPECT_EQ(table.means[1].count, 2);
}

TEST(Summary, TheSpeedUpOfTheBaselineIsTheReverse) {
  Study reversed = study();
  reversed.speed_up_of_baseline = true;
  const Summary s = summarise(reversed, {result("a", "csr", 2), result("a", "albus", 8),
                                         result("b", "csr", 9), result("b", "albus", 9)});
  const Mean& albus = s.tables.at(0).means[1];
  EXPECT_NEAR(albus.geometric, 2, 1e-12);
  EXPECT_DOUBLE_EQ(albus.least, 1);
  EXPECT_DOUBLE_EQ(albus.greatest, 4);
  EXPECT_NE(terminal_summary(s).find("this one over that of csr"), std::string::npos);
  EXPECT_NE(markdown_summary(s).find("this one over that of csr"), std::string::npos);
  EXPECT_NE(json_summary(s).find("\"speed_up_of\": \"baseline\""), std::string::npos);
}

TEST(Summary, WhatFailedEntersNoMeanAndIsCounted) {
  const Summary s =
      summarise(study(), {result("a", "csr", 8), result("a", "albus", 2), result("b", "csr", 9),
                          failed("b", "albus"), failed("c", "csr"), result("c", "albus", 5)});
  const Mean& albus = s.tables.at(0).means[1];
  EXPECT_EQ(albus.count, 1);
  EXPECT_NEAR(albus.geometric, 4, 1e-12);
  EXPECT_EQ(albus.failed, 1);
  EXPECT_FALSE(s.tables[0].rows[2].cells[1].ratio);
  ASSERT_EQ(s.failures.size(), 2U);
  EXPECT_EQ(s.failures[0].variant, "albus");
  EXPECT_EQ(s.failures[0].rows, std::vector<std::string>{"b"});
  EXPECT_NE(terminal_summary(s).find("failed: csr: signal 11 (Segmentation fault): c"),
            std::string::npos);
  EXPECT_NE(terminal_summary(s).find("4.00x of 1"), std::string::npos);
  EXPECT_NE(markdown_summary(s).find("| 1.00x (2) | 4.00x (1) |"), std::string::npos);
}

TEST(Summary, WhatFailsAlikeForEveryVariantIsOneFailure) {
  const Summary s = summarise(study(), {failed("a", "csr"), failed("a", "albus"),
                                        result("b", "csr", 9), failed("b", "sell")});
  ASSERT_EQ(s.failures.size(), 2U);
  EXPECT_EQ(s.failures[0].variant, "csr, albus");
  EXPECT_EQ(s.failures[0].rows, std::vector<std::string>{"a"});
  EXPECT_EQ(s.failures[1].variant, "sell");
}

TEST(Summary, RepetitionsGiveTheMedianAndTheSpread) {
  std::vector<Result> results;
  for (const double product : {3.0, 5.0, 4.0}) {
    results.push_back(result("a", "csr", product));
    results.back().repetition = static_cast<std::int64_t>(results.size());
  }
  const Summary s = summarise(study(), results);
  const Cell& cell = s.tables.at(0).rows.at(0).cells.at(0);
  EXPECT_EQ(*cell.figure, 4);
  EXPECT_EQ(cell.repetitions, 3);
  EXPECT_DOUBLE_EQ(cell.spread, 0.5);

  results.push_back(result("a", "csr", 9.0));
  EXPECT_EQ(*summarise(study(), results).tables.at(0).rows.at(0).cells.at(0).figure, 4.5);

  results.push_back(failed("a", "csr"));
  EXPECT_FALSE(summarise(study(), results).tables.at(0).rows.at(0).cells.at(0).figure);
}

// mpirun ends with 128 and the number of the signal that ended a rank.
TEST(Summary, ASignalOfARankIsNoExitCodeOfTheRun) {
  StudyRun run;
  run.settings = {setting("kernel", "csr")};
  Record record;
  record.ended.how = End::exited;
  record.ended.exit_code = 128 + 11;
  EXPECT_EQ(results_of(Study(), run, record).at(0).failure, "exit 139");
  run.ranks = 2;
  EXPECT_EQ(results_of(Study(), run, record).at(0).failure, "signal 11");
}

TEST(Summary, TheBaselineAgreesInAllElse) {
  std::vector<Result> results;
  for (const char* ranks : {"1", "2"})
    for (const char* kernel : {"csr", "albus"}) {
      results.push_back(result("a", kernel, *ranks == '1' ? 6 : *kernel == 'c' ? 4 : 1));
      results.back().settings.push_back(setting("ranks", ranks));
    }
  const Summary s = summarise(study(), results);
  EXPECT_EQ(s.variants, (std::vector<std::string>{"csr, 1 rank", "albus, 1 rank", "csr, 2 ranks",
                                                  "albus, 2 ranks"}));
  const auto& cells = s.tables.at(0).rows.at(0).cells;
  EXPECT_DOUBLE_EQ(*cells[1].ratio, 1);
  EXPECT_DOUBLE_EQ(*cells[3].ratio, 4);
}

TEST(Summary, CellsAreBehindTheBestThatDiffersInTheKeysOfTheBaselineOnly) {
  std::vector<Result> results;
  for (const auto& [iterations, csr, albus] :
       {std::tuple{"200", 8.0, 10.0}, std::tuple{"1000", 50.0, 40.0}}) {
    results.push_back(result("a", "csr", csr));
    results.back().settings.push_back(setting("solver.max_iterations", iterations));
    results.push_back(result("a", "albus", albus));
    results.back().settings.push_back(setting("solver.max_iterations", iterations));
  }
  const Table table = summarise(study(), results).tables.at(0);
  const auto& cells = table.rows.at(0).cells;
  EXPECT_DOUBLE_EQ(*cells[0].behind, 0);
  EXPECT_DOUBLE_EQ(*cells[1].behind, 0.25);
  EXPECT_DOUBLE_EQ(*cells[2].behind, 0.25);
  EXPECT_EQ(table.means[0].best, 1);
  EXPECT_EQ(table.means[1].best, 0);
}

TEST(Summary, NinetyFivePercentOfTheProblemsAreNoFurtherBehind) {
  std::vector<Result> results;
  for (int i = 1; i <= 20; ++i) {
    results.push_back(result(fmt::format("p{}", i), "csr", 100));
    results.push_back(result(fmt::format("p{}", i), "albus", 100 + i));
  }
  const Mean albus = summarise(study(), results).tables.at(0).means.at(1);
  EXPECT_NEAR(albus.behind_p95, 0.19, 1e-12);
  EXPECT_NEAR(albus.behind_worst, 0.2, 1e-12);
}

TEST(Summary, AProblemThatTheBaselineNamesIsAVariant) {
  Study s;
  s.baseline = {setting("problem.generate", "a")};
  const Summary summary = summarise(s, {result("a", "csr", 6), result("b", "csr", 3)});
  EXPECT_EQ(summary.variants, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(*summary.tables.at(0).rows.at(0).cells[1].ratio, 2);
}

TEST(Summary, ThePageHidesNoMarkupOfNames) {
  const Summary s = summarise(study(), {result("<b>|", "csr", 8), result("x", "csr", 8)});
  EXPECT_EQ(html_summary(s).find("<b>|"), std::string::npos);
  EXPECT_NE(html_summary(s).find("&lt;b&gt;|"), std::string::npos);
  EXPECT_NE(markdown_summary(s).find("| &lt;b&gt;\\| |"), std::string::npos);
  EXPECT_EQ(markdown_summary(s).find('<'), std::string::npos);
}

TEST(Summary, NoTextOfAFailureIsMarkupEither) {
  Result bad = failed("[x](y)", "csr");
  bad.failure = "<i>\n| cell";
  bad.reason = "<script>\x1b[2J";
  Summary s = summarise(study(), {result("a", "csr", 8), bad});
  const std::string text = markdown_summary(s);
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find(" &lt;i&gt; \\| cell |"), std::string::npos) << text;
  EXPECT_NE(text.find(": &lt;script&gt;?\\[2J: \\[x\\](y)\n"), std::string::npos) << text;
}

TEST(Summary, NoLineOnTheTerminalHasMoreThanEightyColumns) {
  std::vector<Result> results;
  for (int kernel = 0; kernel < 12; ++kernel)
    results.push_back(
        result(std::string(60, 'p'), fmt::format("kernel-with-a-name-{}", kernel), 1e6));
  results.push_back(failed("y", "csr"));
  std::istringstream lines(terminal_summary(summarise(study(), results)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Summary, RunsAreLinesOfCsv) {
  Result odd = result("a,\"b\"", "csr", 8.5);
  odd.finding.kernel = "csr";
  const std::string csv = csv_of_runs({odd, failed("x", "albus")});
  EXPECT_EQ(csv.substr(0, csv.find(',', 17)), "problem.generate,kernel");
  EXPECT_NE(csv.find("\"a,\"\"b\"\"\",csr,1,,0,0,csr,,,,10,30,8.5,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nx,albus,1,signal 11,"), std::string::npos) << csv;
}

TEST(Summary, FiguresHaveThreeDigits) {
  EXPECT_EQ(three_digits(812.34), "812");
  EXPECT_EQ(three_digits(8.1234), "8.12");
  EXPECT_EQ(three_digits(0.0081234), "0.00812");
  EXPECT_EQ(three_digits(123456), "123456");
  EXPECT_EQ(three_digits(0), "0.00");
}

using Findings = StudyFolder;

// A name that report.json does not have would leave its figure out.
TEST_F(Findings, OfAReportAreItsFigures) {
  CaseOutcome outcome = test::sample_outcome();
  RunOutcome& run = outcome.runs[0];
  run.seconds = {.read = 1,
                 .tune = 2,
                 .order = 4,
                 .build = 8,
                 .upload = 16,
                 .setup = 32,
                 .renew = 64,
                 .solve = 128};
  run.kernel_us.median = 3;
  run.iteration_us = 5;
  run.iterations = 7;
  const auto findings = read_findings(write("report.json", json_report(outcome)), 0.5, 2'000'000);
  ASSERT_EQ(findings.size(), outcome.runs.size());
  const Finding& first = findings[0];
  EXPECT_EQ(std::tie(first.kernel, first.ordering, first.precision, first.device, first.reason,
                     first.rows),
            std::tuple(run.kernel, "given", "double", "cpu", run.reason, outcome.problem.rows));
  const std::map<std::string, double, std::less<>> expected = {
      {"product", 3}, {"iteration", 5}, {"iterations", 7}, {"solve", 128}, {"prepare", 62},
      {"setup", 32},  {"total", 254},   {"wall", 0.5},     {"memory", 2}};
  EXPECT_EQ(first.figures, expected);
}

TEST_F(StudyFolder, ARecordIsThatOfItsRunAlone) {
  StudyRun run;
  run.hash = "0123456789abcdef";
  Record record;
  record.folder = folder;
  record.ended.how = End::exited;
  write_record(record, run, {"solve"});
  EXPECT_TRUE(read_record(folder, run));
  run.hash = "fedcba9876543210";
  EXPECT_FALSE(read_record(folder, run));
}

}  // namespace
}  // namespace trireme::study
