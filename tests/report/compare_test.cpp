// SPDX-License-Identifier: BSD-3-Clause
// Comparisons of reports whose differences are known.
#include "report/compare.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "distinct_figures.hpp"
#include "report/noise.hpp"
#include "report/report.hpp"
#include "report/sample_outcome.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// 9 times with the median `median` and a median absolute deviation of `deviation`.
std::vector<double> times(double median, double deviation) {
  std::vector<double> all;
  for (int i = -4; i <= 4; ++i) all.push_back(median + deviation * i / 2.0);
  return all;
}

TEST(Noise, OfASeriesIsItsMedianDeviation) {
  const Spread spread = spread_of({7, 1, 3, 2, 100});
  EXPECT_DOUBLE_EQ(spread.median, 3);
  EXPECT_DOUBLE_EQ(spread.deviation, 1.4826 * 2);  // of 4, 2, 0, 1, 97
  EXPECT_DOUBLE_EQ(spread_of({1, 2, 3, 10}).median, 2.5);
}

// Both deviations are 1.4826, so that together they are 2.097.
TEST(Noise, IsWhatMediansMayDifferBy) {
  EXPECT_EQ(verdict_on_noise(times(100, 1), times(102, 1)), "within noise");
  EXPECT_EQ(verdict_on_noise(times(100, 1), times(102.2, 1)), "slower by 2.2 % (beyond noise)");
  EXPECT_EQ(verdict_on_noise(times(100, 1), times(88, 1)), "faster by 12 % (beyond noise)");
  EXPECT_EQ(verdict_on_noise(times(100, 1), times(310, 1)), "slower by 210 % (beyond noise)");
  EXPECT_EQ(verdict_on_noise(times(100, 0), times(100, 0)), "within noise");
}

TEST(Noise, IsUnknownWithFewTimes) {
  EXPECT_EQ(verdict_on_noise({1, 1, 1, 1}, times(5, 1)), "4 measured: too few to tell");
  EXPECT_EQ(verdict_on_noise({}, {}), "0 measured: too few to tell");
}

class Compare : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("trireme-compare-{}-{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::string compared(const CaseOutcome& before, const CaseOutcome& after) const {
    return compare_reports(write("a.json", json_report(before)),
                           write("b.json", json_report(after)));
  }

  std::string fault_of(const std::string& text) const {
    const fs::path good = write("good.json", json_report(test::sample_outcome()));
    try {
      compare_reports(good, write("bad.json", text));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      return e.what();
    }
    ADD_FAILURE() << "no error for " << text;
    return "";
  }

  fs::path folder_;
};

TEST_F(Compare, OfOneRunWithItselfFindsNothing) {
  const CaseOutcome outcome = test::sample_outcome();
  const std::string text = compared(outcome, outcome);
  EXPECT_NE(text.find("same versions, machine, problem and case\n"), std::string::npos) << text;
  EXPECT_NE(text.find("within noise"), std::string::npos) << text;
  EXPECT_EQ(text.find("beyond noise"), std::string::npos) << text;
  EXPECT_NE(text.find("  iterations           312        312   1.000  the same\n"),
            std::string::npos)
      << text;
}

TEST_F(Compare, NamesWhatDiffers) {
  CaseOutcome before = test::sample_outcome(), after = before;
  after.machine.petsc = "3.20.1";
  after.values_hash = "0000000000000000";
  after.case_text = "problem: {}\n";
  after.runs[1].ordering = "rcm";
  after.runs[1].kernel_us.median = 4500;
  for (double& us : after.runs[1].product_us) us *= 0.75;
  after.runs[1].iterations = 156;
  after.runs[1].seconds.build = 0.024;
  after.runs.pop_back();
  const std::string text = compared(before, after);
  for (const char* line :
       {"  PETSc: 3.18.5 -> 3.20.1", "  hash of the values: fedcba9876543210 -> 0000000000000000",
        "  the case has another text", "  order of rows: given -> rcm",
        "  one product      6.00 ms    4.50 ms   0.750  faster by 25 % (beyond noise)",
        "  build            12.0 ms    24.0 ms   2.000",
        "  iterations           312        156   0.500", "petsc-aij on cpu: only before"})
    EXPECT_NE(text.find(std::string("\n") + line + "\n"), std::string::npos) << line << "\n"
                                                                             << text;
  EXPECT_EQ(text.find("MPI:"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.find(".json") != std::string::npos) << line;
}

TEST_F(Compare, FitsALineWhateverTheTimesAre) {
  for (const double factor : {1e-9, 1e-3, 3.1, 1e3, 1e9, 1e15}) {
    CaseOutcome before = test::sample_outcome(), after = before;
    for (RunOutcome& run : after.runs) {
      run.kernel_us.median *= factor;
      for (double& us : run.product_us) us *= factor;
      for (double& seconds : run.solve_seconds) seconds *= factor;
    }
    std::istringstream lines(compared(before, after));
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.size() <= 80 || line.find(".json") != std::string::npos) << line;
  }
}

// A name that report.json does not have would leave its line out.
TEST_F(Compare, FindsEveryFigureThatItReads) {
  CaseOutcome outcome = test::outcome();
  outcome.runs.resize(1);
  outcome.values_hash = "fedcba9876543210";
  nlohmann::json after = nlohmann::json::parse(json_report(outcome)).flatten();
  for (auto& [place, value] : after.items()) {
    if (value.is_string()) value = value.get<std::string>() + "?";
    if (value.is_number_float()) value = 2 * value.get<double>();
    if (value.is_number_integer() && place != "/schema") value = 1 + value.get<std::int64_t>();
  }
  const std::string text = compare_reports(write("before.json", json_report(outcome)),
                                           write("after.json", after.unflatten().dump()));
  for (const char* name : {"Trireme:",
                           "PETSc:",
                           "HDF5:",
                           "MPI:",
                           "host:",
                           "CPU:",
                           "GPU:",
                           "SIMD:",
                           "ranks:",
                           "threads per rank:",
                           "problem:",
                           "rows:",
                           "nonzeros:",
                           "b:",
                           "x0:",
                           "hash of the pattern:",
                           "hash of the values:",
                           "the case has another text",
                           "order of rows:",
                           "method:",
                           "engine:",
                           "preconditioner:",
                           "rtol:",
                           "end:",
                           "one product ",
                           "one iteration ",
                           "solves ",
                           "read ",
                           "tune ",
                           "order ",
                           "build ",
                           "upload ",
                           "set-up ",
                           "renew ",
                           "iterations ",
                           "true residual "})
    EXPECT_NE(text.find(std::string("\n  ") + name), std::string::npos) << name << "\n" << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST_F(Compare, PairsRunsOfTheSameNameInTheirOrder) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs = {outcome.runs[0], outcome.runs[0]};
  outcome.runs[1].iterations = 77;
  const std::string text = compared(outcome, outcome);
  EXPECT_NE(text.find("  iterations           312        312   1.000  the same\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  iterations            77         77   1.000  the same\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("only"), std::string::npos) << text;
}

TEST_F(Compare, ShowsTheTextsOfReportsOnTheirLines) {
  CaseOutcome before = test::sample_outcome(), after = before;
  after.problem.name = "x\n\x1b]0;title\x07";
  const std::string text = compared(before, after);
  EXPECT_NE(text.find(" -> x??]0;title?\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(Compare, OfTwoSingleRunsPairsThemWhateverTheirKernels) {
  CaseOutcome before = test::sample_outcome(), after = before;
  before.runs = {before.runs[0]};
  after.runs = {after.runs[2]};
  EXPECT_NE(compared(before, after).find("\ncsr on cpu -> petsc-aij on cpu\n"), std::string::npos);
}

TEST_F(Compare, ReadsReportsOfSchema1AndUnknownFigures) {
  auto old = nlohmann::json::parse(json_report(test::sample_outcome()));
  old["schema"] = 1;
  for (const char* key : {"start_seconds", "account", "pattern", "case", "command"}) old.erase(key);
  for (auto& run : old["runs"]) {
    for (const char* key : {"ordering", "product_us", "product_us_stride", "steps", "trial"})
      run.erase(key);
    run["relative_residual"] = nullptr;
  }
  const std::string text = compare_reports(write("old.json", old.dump()),
                                           write("new.json", json_report(test::sample_outcome())));
  EXPECT_NE(text.find("0 measured: too few to tell"), std::string::npos) << text;
  EXPECT_NE(text.find("  true residual        nan    9.8e-09       -\n"), std::string::npos)
      << text;
}

TEST_F(Compare, RefusesWhatIsNoReport) {
  for (const char* text : {"", "{", "[]", "{\"schema\": 2}", "\xff\xfe",
                           "{\"schema\": 2, \"problem\": {}, \"machine\": {}, \"runs\": 7}"}) {
    const std::string fault = fault_of(text);
    EXPECT_NE(fault.find("is no report.json of solve"), std::string::npos) << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  }
  EXPECT_THROW(compare_reports(folder_ / "nowhere", folder_ / "nowhere"), Error);
}

// Valid enough to be read; nothing in it has the type that it should have.
TEST_F(Compare, SurvivesAReportOfOddTypes) {
  const std::string odd =
      R"({"schema": 2, "problem": {"rows": []}, "machine": {"versions": 3}, "runs":
          [{"kernel": 3, "kernel_us": 1, "product_us": "x", "seconds": [], "iterations": "many"}, 4]})";
  const fs::path path = write("odd.json", odd);
  EXPECT_NO_THROW(compare_reports(path, path));
  EXPECT_NO_THROW(compare_reports(path, write("good.json", json_report(test::sample_outcome()))));
}

}  // namespace
}  // namespace trireme
