// SPDX-License-Identifier: BSD-3-Clause
// What the reports promise: widths, words, valid JSON, self-contained HTML, all files or none.
#include "report/report.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/sample_outcome.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::sample_outcome;

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class ReportFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("trireme-report-{}-{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::size_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

CaseOutcome wide_outcome() {
  CaseOutcome outcome = sample_outcome();
  outcome.problem.name = std::string(40, 'f') + ".h5 /A";
  outcome.runs[1].kernel = "cusparse-csr-alg2-with-preprocess";
  outcome.runs[1].notes = {"vectors staged through pinned memory: 1.3 us per product", "and so on"};
  outcome.runs[2].seconds.solve = 12345.678;
  return outcome;
}

TEST(TerminalTable, FitsItsWidth) {
  for (const std::size_t width : {60u, 70u, 80u, 100u})
    for (const std::string& line : lines_of(terminal_table(wide_outcome(), {.width = width})))
      EXPECT_LE(line.size(), width) << line;
  for (const std::string& line : lines_of(terminal_table(wide_outcome())))
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(TerminalTable, LeavesOutTheLeastImportantColumnsFirst) {
  const auto heads = [](std::size_t width) {
    for (const std::string& line : lines_of(terminal_table(wide_outcome(), {.width = width}))) {
      std::istringstream words(line);
      std::string first, rest;
      words >> first;
      for (std::string word; words >> word;) rest += word + " ";
      if (first == "kernel") return rest;
    }
    return std::string("no heads");
  };
  EXPECT_EQ(heads(100), "ms us GFLOP/s GB/s bandwidth iterations / ||b|| s ");
  EXPECT_EQ(heads(80), "ms us GFLOP/s iterations / ||b|| s ");
  EXPECT_EQ(heads(60), "us iterations / ||b|| s ");
  EXPECT_EQ(heads(40), "iterations / ||b|| s ");
}

TEST(TerminalTable, LeavesOutAColumnInWhichNoRunHasAFigure) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs[0].bandwidth_fraction.reset();
  EXPECT_NE(terminal_table(outcome).find("bandwidth"), std::string::npos);
  for (RunOutcome& run : outcome.runs) run.bandwidth_fraction.reset();
  EXPECT_EQ(terminal_table(outcome).find("bandwidth"), std::string::npos);
}

TEST(TerminalTable, HasTheLongestSolveFirstBelowTheTable) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs[0].seconds.solve = 1;
  outcome.runs[1].seconds.solve = 3;
  outcome.runs[2].seconds.solve = 2;
  const std::string table = terminal_table(outcome);
  const std::size_t csr = table.find("\ncsr: "), albus = table.find("\nauto-albus: "),
                    aij = table.find("\npetsc-aij: ");
  ASSERT_NE(csr, std::string::npos) << table;
  EXPECT_LT(albus, aij);
  EXPECT_LT(aij, csr);
}

TEST(TerminalTable, CutsLongNotesAndSaysWhereTheyAre) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs[0].multigrid.reset();
  outcome.distribution.reset();
  EXPECT_EQ(terminal_table(outcome).find("The reports have in full"), std::string::npos);
  std::string kept;
  for (int i = 0; i < 20; ++i) kept += "word ";
  outcome.runs[0].notes = {kept + "end; " + std::string(60, 'b')};
  const std::string table = terminal_table(outcome);
  EXPECT_NE(table.find(" end ...\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("bbb"), std::string::npos) << table;
  EXPECT_NE(table.find("The reports have in full what ends with ... here.\n"), std::string::npos);
}

TEST(TerminalTable, HasColoursOnlyWhereTheTerminalHas) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs[1].exit_code = ExitCode::not_converged;
  outcome.runs[1].reason = "not converged: maximum iterations reached";
  const std::string plain = terminal_table(outcome),
                    coloured = terminal_table(outcome, {.colours = true});
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  for (const char* part :
       {"\n\033[1mkernel ", "\ncsr: \033[32mconverged\033[0m: relative tolerance",
        "\nauto-albus: \033[31mnot converged\033[0m: maximum"})
    EXPECT_NE(coloured.find(part), std::string::npos) << part << "\n" << coloured;
}

TEST(TerminalTable, PassesNoEscapeOfANameOn) {
  CaseOutcome outcome = sample_outcome();
  outcome.problem.name = "\033[31mred.h5";
  outcome.runs[0].reason = "\033]0;title\a: a";
  const std::string table = terminal_table(outcome);
  EXPECT_EQ(table.find('\033'), std::string::npos);
  EXPECT_NE(table.find("?[31mred.h5"), std::string::npos) << table;
}

TEST(TerminalTable, HasARowForEveryKernel) {
  const std::string table = terminal_table(sample_outcome());
  for (const char* kernel : {"\ncsr ", "\nauto-albus ", "\npetsc-aij "})
    EXPECT_NE(table.find(kernel), std::string::npos) << table;
}

TEST(TerminalTable, SaysBreakEvenInWords) {
  const std::string table = terminal_table(sample_outcome());
  EXPECT_NE(table.find("paid back after 6 products (this run did 313)"), std::string::npos)
      << table;
  EXPECT_NE(table.find("never pays"), std::string::npos) << table;
}

TEST(TerminalTable, SaysWhatAllRunsShareOnce) {
  CaseOutcome outcome = sample_outcome();
  for (RunOutcome& run : outcome.runs) run.notes.push_back("5 duplicate entries");
  outcome.runs[1].notes.push_back("only albus");
  const std::string table = terminal_table(outcome);
  const std::size_t first = table.find("5 duplicate entries");
  ASSERT_NE(first, std::string::npos) << table;
  EXPECT_EQ(table.find("5 duplicate entries", first + 1), std::string::npos) << table;
  EXPECT_NE(table.find("only albus"), std::string::npos) << table;
}

TEST(Words, BreakEvenIsSilentForCsrAndWhereNothingWasTimed) {
  CaseOutcome outcome = sample_outcome();
  EXPECT_EQ(words::break_even(outcome.runs[0]), "");
  EXPECT_NE(words::break_even(outcome.runs[1]), "");
  RunOutcome without = outcome.runs[1];
  without.baseline.clear();
  without.break_even_products.reset();
  EXPECT_EQ(words::break_even(without), "") << "no plain kernel was timed";
  outcome.runs[1].kernel_us.count = 0;
  EXPECT_EQ(words::break_even(outcome.runs[1]), "");
}

TEST(Words, NumbersKeepThreeDigitsAndAUnit) {
  EXPECT_EQ(words::count(980), "980");
  EXPECT_EQ(words::count(206'763), "207 k");
  EXPECT_EQ(words::count(17'000'000), "17.0 M");
  EXPECT_EQ(words::count(999'999'999), "1.00 G");
  EXPECT_EQ(words::seconds(0.00123), "1.23 ms");
  EXPECT_EQ(words::seconds(200), "3 min 20 s");
  EXPECT_EQ(words::bytes(210e6), "210 MB");
  EXPECT_EQ(words::residual(NAN), "nan");
}

TEST(JsonReport, HoldsEveryRunWithItsHistory) {
  const auto report = nlohmann::json::parse(json_report(sample_outcome()));
  EXPECT_EQ(report["schema"], 2);
  EXPECT_EQ(report["problem"]["nnz"], 16'100'000);
  ASSERT_EQ(report["runs"].size(), 3u);
  EXPECT_EQ(report["runs"][1]["kernel"], "albus");
  EXPECT_EQ(report["runs"][1]["break_even_products"], 6);
  EXPECT_TRUE(report["runs"][2]["break_even_products"].is_null());
  EXPECT_EQ(report["runs"][0]["history"].size(), 313u);
  EXPECT_DOUBLE_EQ(report["runs"][0]["relative_residual"], 9.8e-9);
}

TEST(JsonReport, StaysValidWithNanAndNamesThatAreNotUtf8) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs[0].relative_residual = NAN;
  outcome.runs[0].history.push_back(NAN);
  outcome.problem.name = "gr\xfc\xdf.h5";
  const auto report = nlohmann::json::parse(json_report(outcome));
  EXPECT_TRUE(report["runs"][0]["relative_residual"].is_null());
  EXPECT_TRUE(report["runs"][0]["history"].back().is_null());
}

TEST(CsvHistory, HasALineForEveryIteration) {
  const auto lines = lines_of(csv_history(sample_outcome()));
  EXPECT_EQ(lines.size(), 1u + 3 * 313);
  EXPECT_EQ(lines.front(), "kernel,iteration,relative_residual");
  EXPECT_EQ(lines[1], "csr,0,1");
}

TEST(MarkdownReport, HasARowForEveryKernelAndCandidate) {
  const std::string text = markdown_report(sample_outcome());
  for (const char* line :
       {"| auto-albus | 12.0 ms | 6.00 ms | 5.67 | 34.0 | 87 % | 312 | 9.8e-09 | 1.50 s |",
        "- **auto-albus**: converged: relative tolerance reached (CONVERGED\\_RTOL)",
        "| teb | given | - | - | not measured: the model says 5 times as long |",
        "| /A1 | 1.0e-03 | 90 | 9.0e-09 | 2.00 ms | 450 ms |",
        "mpirun -n 2 solve --config case.yaml"})
    EXPECT_NE(text.find(std::string("\n") + line + "\n"), std::string::npos)
        << line << "\n\nis not in\n"
        << text;
  EXPECT_EQ(text.find("## Solve report: converged\n"), 0u);
}

TEST(MarkdownReport, KeepsTablesWholeWithAnyName) {
  CaseOutcome outcome = sample_outcome();
  outcome.problem.name = "a|b\n<img>.h5";
  outcome.case_text = "~~~\n";
  const std::string text = markdown_report(outcome);
  EXPECT_NE(text.find("a\\|b &lt;img&gt;.h5"), std::string::npos) << text;
  EXPECT_NE(text.find("\n~~~~\n~~~\n~~~~\n"), std::string::npos) << text;
}

TEST(HtmlReport, NeedsNothingFromOutside) {
  const std::string page = html_report(sample_outcome());
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<script"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(HtmlReport, KeepsPeaksOfLongHistoriesAndStaysSmall) {
  CaseOutcome outcome = sample_outcome();
  outcome.runs.resize(1);
  outcome.runs[0].history.assign(200'000, 1e-3);
  outcome.runs[0].history[123'457] = 1e6;
  outcome.runs[0].history[5] = NAN;
  const std::string page = html_report(outcome);
  EXPECT_LT(page.size(), 250'000u);
  EXPECT_NE(page.find(">1e6</text>"), std::string::npos) << "the axis reaches the peak";
  EXPECT_EQ(page.find("nan,"), std::string::npos);
}

TEST(HtmlReport, SpeaksOfAllStepsAndSolvesInItsHeadline) {
  CaseOutcome outcome = sample_outcome();
  const auto expect = [&](const std::string& part) {
    EXPECT_NE(html_report(outcome).find(part), std::string::npos) << part;
  };
  expect("<dt>iterations</dt><dd>312</dd>");
  expect("<dt>true residual</dt>");
  outcome.runs = {outcome.runs[1]};  // a sequence of 120 + 90 iterations
  expect("<dt>solve, all 2 steps</dt><dd>1.50 s</dd>");
  expect("<dt>iterations, all 2 steps</dt><dd>210</dd>");
  expect("<dt>worst true residual</dt><dd>9.8e-09</dd>");
  outcome.runs[0].steps.clear();
  outcome.runs[0].solve_seconds = {0.5, 0.5, 0.5};
  expect("<dt>solve, all 3 solves</dt><dd>1.50 s</dd>");
  expect("<dt>iterations of the last</dt><dd>312</dd>");
}

// A page of paper does not end with what belongs to the next one; a browser was seen to obey.
TEST(HtmlReport, KeepsHeadingsWithWhatFollowsOnPaper) {
  const std::string page = html_report(sample_outcome());
  const std::size_t print = page.rfind("@media print");
  const std::size_t rule =
      page.find("h2, h3, caption, summary, thead, .legend { break-after: avoid;", print);
  EXPECT_NE(rule, std::string::npos);
}

TEST(HtmlReport, EscapesNames) {
  CaseOutcome outcome = sample_outcome();
  outcome.problem.name = "<script>alert(1)</script>.h5";
  EXPECT_EQ(html_report(outcome).find("<script"), std::string::npos);
}

TEST(HtmlReport, SurvivesAnOutcomeWithoutRuns) {
  EXPECT_NE(html_report(CaseOutcome{}).find("</html>"), std::string::npos);
}

TEST(Reports, SayWhichKernelsASignalCameBefore) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.not_run = {"dasp", "teb"};
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  const std::string line = "not run after a signal: dasp, teb";
  EXPECT_NE(terminal_table(outcome).find(line), std::string::npos);
  EXPECT_NE(html_report(outcome).find(line), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json_report(outcome))["not_run"],
            nlohmann::json({"dasp", "teb"}));
}

TEST(Reports, SayWhichKernelsHaveNoResultAndWhy) {
  CaseOutcome outcome = test::sample_outcome();
  ASSERT_EQ(exit_code(outcome), ExitCode::converged);
  outcome.refused = {{"ell", "kernel 'ell' would pad <rows>; use hyb"}};
  EXPECT_EQ(exit_code(outcome), ExitCode::resource);
  EXPECT_NE(
      terminal_table(outcome).find("ell has no result: kernel 'ell' would pad <rows>; use hyb"),
      std::string::npos);
  EXPECT_NE(
      markdown_report(outcome).find("- ell has no result: kernel 'ell' would pad &lt;rows&gt;"),
      std::string::npos);
  EXPECT_NE(markdown_report(outcome).find("Solve report: converged"), std::string::npos);
  const std::string page = html_report(outcome);
  EXPECT_NE(page.find("ell has no result: "), std::string::npos);
  EXPECT_NE(page.find("✓ converged"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json_report(outcome))["refused"],
            nlohmann::json::parse(
                R"([{"kernel": "ell", "reason": "kernel 'ell' would pad <rows>; use hyb"}])"));
  outcome.runs[0].exit_code = ExitCode::breakdown;
  EXPECT_EQ(exit_code(outcome), ExitCode::breakdown) << "a failed solve comes first";
}

TEST_F(ReportFiles, AreWrittenUnderTheirNamesOnly) {
  const fs::path directory = folder_ / "a" / "b";
  const auto paths = write_reports(
      sample_outcome(), std::vector{ReportFormat::json, ReportFormat::csv, ReportFormat::html},
      directory);
  EXPECT_EQ(paths, (std::vector<fs::path>{directory / "report.json", directory / "history.csv",
                                          directory / "report.html"}));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator()), 3);
  EXPECT_EQ(slurp(directory / "report.json"), json_report(sample_outcome()));
}

TEST_F(ReportFiles, LeaveTheOldReportWhereOneCannotBeWritten) {
  std::ofstream(folder_ / "report.json") << "old";
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit before = limit;
  CaseOutcome outcome = sample_outcome();
  for (RunOutcome& run : outcome.runs) run.history.assign(5000, 0.125);
  limit.rlim_cur = json_report(outcome).size();  // too little for the longer CSV
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    write_reports(outcome, std::vector{ReportFormat::json, ReportFormat::csv}, folder_);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::resource) << e.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(slurp(folder_ / "report.json"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ReportFiles, DoNotFollowAPlantedLink) {
  std::ofstream(folder_ / "victim") << "precious";
  for (const char* name : {"report.json", "report.json.tmp"})
    fs::create_symlink(folder_ / "victim", folder_ / name);
  write_reports(sample_outcome(), std::vector{ReportFormat::json}, folder_);
  EXPECT_EQ(slurp(folder_ / "victim"), "precious");
}

TEST_F(ReportFiles, CheckLeavesNothingBehind) {
  check_writable(folder_ / "not" / "yet" / "there");
  check_writable(folder_);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(ReportFiles, CheckRefusesAFolderBelowAFile) {
  std::ofstream(folder_ / "file") << "x";
  for (const fs::path& directory : {folder_ / "file", folder_ / "file" / "results", fs::path()}) {
    try {
      check_writable(directory);
      ADD_FAILURE() << "no error for " << directory;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      EXPECT_NE(std::string(e.what()).find("--output"), std::string::npos) << e.what();
    }
  }
}

TEST_F(ReportFiles, CheckRefusesAFileSystemThatTakesNoFiles) {
  EXPECT_THROW(check_writable("/proc/trireme-results"), Error);
}

}  // namespace
}  // namespace trireme
