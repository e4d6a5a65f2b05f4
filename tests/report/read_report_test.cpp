// SPDX-License-Identifier: BSD-3-Clause
// report.json is read as it was written, and a file of somebody else does no harm.
#include "report/read_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "report/distinct_figures.hpp"
#include "report/report.hpp"
#include "report/sample_outcome.hpp"
#include "report/svg_charts.hpp"

namespace trireme {
namespace {

class ReadReport : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("trireme-read-{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CaseOutcome read(const std::string& content) const {
    std::ofstream(folder_ / "report.json") << content;
    return read_report(folder_ / "report.json");
  }

  std::filesystem::path folder_;
};

TEST_F(ReadReport, IsTheInverseOfWriting) {
  CaseOutcome sample = test::sample_outcome();
  sample.runs[0].history[3] = NAN;
  for (const CaseOutcome& outcome : {sample, test::outcome(), CaseOutcome{}}) {
    const std::string text = json_report(outcome);
    EXPECT_EQ(json_report(read(text)), text);
  }
}

TEST_F(ReadReport, TakesTheReportOfAnEarlierVersion) {
  auto report = nlohmann::json::parse(json_report(test::sample_outcome()));
  report.erase("date");
  report["machine"].erase("in_cache_gbytes_per_s");
  report["machine"].erase("gpu_in_cache_gbytes_per_s");
  report["machine"]["versions"].erase("commit");
  report["runs"][0].erase("multigrid");
  const CaseOutcome outcome = read(report.dump());
  EXPECT_EQ(outcome.runs.size(), 3u);
  EXPECT_FALSE(outcome.runs[0].multigrid);
}

TEST_F(ReadReport, NamesTheFigureThatIsSomethingElse) {
  const auto report = nlohmann::json::parse(json_report(test::sample_outcome()));
  for (const auto& [place, value, named] :
       std::vector<std::tuple<std::string, nlohmann::json, std::string>>{
           {"/runs/1/kernel_us/median", "fast", "runs.kernel_us.median"},
           {"/runs/1/device", "abacus", "runs.device"},
           {"/runs/0/history", 3, "runs.history"},
           {"/runs/2/iterations", 1.5, "runs.iterations"},
           {"/problem/rows", {1}, "problem/rows"},
           {"/pattern/density", {1}, "pattern"},
           {"/pattern/cells", std::int64_t{1} << 32, "pattern"}}) {
    auto wrong = report;
    wrong[nlohmann::json::json_pointer(place)] = value;
    try {
      read(wrong.dump());
      ADD_FAILURE() << place;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_NE(std::string(e.what()).find("': " + named + " is not"), std::string::npos)
          << e.what();
    }
  }
}

// Every number of a file in turn is one that a run does not write.
TEST_F(ReadReport, ChartsOfAnyNumbersEnd) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs.erase(outcome.runs.begin());
  outcome.runs.resize(1);
  outcome.runs[0].history = {1, 0.5, 1e-9};
  outcome.runs[0].product_us = {5, 6, 7};
  outcome.pattern = {.cells = 1, .density = {3}, .row_lengths = {1, 2}};
  const auto report = nlohmann::json::parse(json_report(outcome));
  const auto leaves = report.flatten();
  int drawn = 0;
  for (const auto& [place, leaf] : leaves.items()) {
    if (!leaf.is_number()) continue;
    for (const nlohmann::json& value :
         std::vector<nlohmann::json>{0, 1e300, std::int64_t{1} << 62}) {
      auto changed = report;
      changed[nlohmann::json::json_pointer(place)] = value;
      try {
        for (const svg::Chart& chart : svg::charts(read(changed.dump()), svg::Amount::drawn))
          EXPECT_LT(svg::file(chart).size(), 100'000u) << place;
        ++drawn;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::input) << place;
      }
    }
  }
  EXPECT_GT(drawn, 150);
}

TEST_F(ReadReport, FiguresAreWrittenWithAllNumbers) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[0].history.assign(5000, 0.5);
  const CaseOutcome again = read(json_report(outcome));
  const auto files = write_figures(again, folder_ / "figures");
  const auto charts = svg::charts(outcome, svg::Amount::all);
  ASSERT_EQ(files.size(), 2 * charts.size());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    EXPECT_EQ(files[2 * i].filename(), charts[i].id + ".svg");
    std::ostringstream csv;
    csv << std::ifstream(files[2 * i + 1]).rdbuf();
    EXPECT_EQ(csv.str(), charts[i].csv) << charts[i].id;
  }
}

}  // namespace
}  // namespace trireme
