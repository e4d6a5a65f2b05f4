// SPDX-License-Identifier: BSD-3-Clause
// What is drawn is what was measured: each curve is read back from the image by its ticks.
#include "report/svg_charts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/drawn.hpp"
#include "report/report.hpp"
#include "report/sample_outcome.hpp"
#include "report/svg_frame.hpp"

namespace trireme {
namespace {

using test::drawn_circles;
using test::drawn_curve;
using test::DrawnAxis;
using test::DrawnPoint;

void expect_close(const std::vector<DrawnPoint>& drawn, const std::vector<DrawnPoint>& data,
                  double tolerance) {
  ASSERT_EQ(drawn.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    EXPECT_NEAR(drawn[i].x, data[i].x, tolerance * (1 + std::abs(data[i].x))) << i;
    EXPECT_NEAR(drawn[i].y, data[i].y, tolerance * std::abs(data[i].y)) << i;
  }
}

TEST(Charts, OfConvergenceAreTheHistories) {
  const CaseOutcome outcome = test::sample_outcome();
  const std::string chart = svg::convergence(outcome).content;
  const DrawnAxis x(chart, "x", false), y(chart, "y", true);
  ASSERT_GE(x.ticks(), 3u);
  ASSERT_GE(y.ticks(), 3u);
  EXPECT_LT(x.worst_tick(), 0.2);
  EXPECT_LT(y.worst_tick(), 0.2);
  for (int r = 0; r < 3; ++r) {
    std::vector<DrawnPoint> data;
    for (std::size_t i = 0; i < outcome.runs[r].history.size(); ++i)
      data.push_back({static_cast<double>(i), outcome.runs[r].history[i]});
    expect_close(drawn_curve(chart, r, x, y), data, 0.01);
    expect_close(drawn_circles(chart, "end s" + std::to_string(r), x, y),
                 {{312, outcome.runs[r].relative_residual}}, 0.01);
  }
}

// Where the iterations of two kernels are the same, their seconds tell them apart.
TEST(Charts, OfConvergenceOverSecondsTakeTheTimeOfTheirIterations) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[0].iteration_us = 8000;
  outcome.runs[1].iteration_us = 6000;
  outcome.runs[2].iteration_us = 0;  // nothing was measured
  const std::string chart = svg::convergence_seconds(outcome).content;
  const DrawnAxis x(chart, "x", false), y(chart, "y", true);
  for (int r = 0; r < 2; ++r) {
    std::vector<DrawnPoint> data;
    for (std::size_t i = 0; i < outcome.runs[r].history.size(); ++i)
      data.push_back({static_cast<double>(i) * (r == 0 ? 8e-3 : 6e-3), outcome.runs[r].history[i]});
    expect_close(drawn_curve(chart, r, x, y), data, 0.01);
    expect_close(drawn_circles(chart, "end s" + std::to_string(r), x, y),
                 {{312 * (r == 0 ? 8e-3 : 6e-3), outcome.runs[r].relative_residual}}, 0.01);
  }
  EXPECT_TRUE(drawn_curve(chart, 2, x, y).empty());
}

TEST(Charts, OfConvergenceHaveNothingOnTheNameOfTheTolerance) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[1].history.resize(40, 1e-8);  // comes to the tolerance at the left
  const std::string chart = svg::convergence(outcome).content;
  std::smatch name;
  ASSERT_TRUE(std::regex_search(
      chart, name, std::regex("<text class=\"note\" x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*>rtol<")));
  EXPECT_GT(name.position(), static_cast<std::ptrdiff_t>(chart.rfind("class=\"marker")));
  const double left = std::stod(name[1]) - 14, bottom = std::stod(name[2]);
  const std::regex place("[ML\"](?:cx=\")?([0-9.]+)(?: |,|\" cy=\")([0-9.]+)"),
      point("([0-9.]+),([0-9.]+)");
  for (const std::regex& places : {place, point})
    for (std::sregex_iterator it(chart.begin(), chart.end(), places), end; it != end; ++it) {
      const double x = std::stod((*it)[1]), y = std::stod((*it)[2]);
      EXPECT_FALSE(x > left - 6 && x < left + 34 && y > bottom - 16 && y < bottom + 4) << (*it)[0];
    }
}

TEST(Charts, OfConvergenceLeaveOutWhatHasNoLogarithm) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs.resize(1);
  outcome.runs[0].history = {1, NAN, 0, 1e-4};
  const std::string chart = svg::convergence(outcome).content;
  const DrawnAxis x(chart, "x", false), y(chart, "y", true);
  expect_close(drawn_curve(chart, 0, x, y), {{0, 1}, {3, 1e-4}}, 0.01);
  outcome.runs[0].history = {0, NAN};
  EXPECT_TRUE(svg::convergence(outcome).empty());
}

TEST(Charts, OfProductTimesAreTheTimesAtTheirPlaces) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[1].product_us = {6000, 24000, 5000};
  outcome.runs[1].product_us_stride = 50;
  const std::string chart = svg::product_times(outcome).content;
  const DrawnAxis x(chart, "x", false), y(chart, "y", true);
  expect_close(drawn_curve(chart, 1, x, y), {{0, 6000}, {50, 24000}, {100, 5000}}, 0.01);
  EXPECT_EQ(drawn_curve(chart, 0, x, y, "faint").size(), 313u);
}

TEST(Charts, OfProductTimesOfSeveralRunsAreMediansBeforeTheTimes) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[1].product_us.clear();
  for (int i = 0; i < 2400; ++i)
    outcome.runs[1].product_us.push_back(i % 3 == 0 ? 60'000 : i % 3 == 1 ? 5000 : 6000);
  for (std::size_t i = 1200; i < 2400; ++i) outcome.runs[1].product_us[i] = 7000;
  const std::string chart = svg::product_times(outcome).content;
  const DrawnAxis x(chart, "x", false), y(chart, "y", true);
  std::vector<DrawnPoint> medians;
  for (int group = 0; group < 24; ++group)
    medians.push_back({100.0 * group + 49.5, group < 12 ? 6000.0 : 7000.0});
  expect_close(drawn_curve(chart, 1, x, y), medians, 0.01);
  const auto times = drawn_curve(chart, 1, x, y, "faint");
  EXPECT_NEAR(std::ranges::max(times, {}, &DrawnPoint::y).y, 60'000, 600);
  outcome.runs.erase(outcome.runs.begin());
  outcome.runs.resize(1);
  EXPECT_EQ(svg::product_times(outcome).content.find("faint"), std::string::npos);
}

TEST(Charts, OfDistributionsCountEveryProduct) {
  const CaseOutcome outcome = test::sample_outcome();
  const std::string chart = svg::product_distribution(outcome).content;
  const DrawnAxis x(chart, "x", true), y(chart, "y", false);
  for (int r = 0; r < 3; ++r) {
    const auto curve = drawn_curve(chart, r, x, y);
    double sum = 0, low = 1e300, high = 0;
    for (std::size_t i = 0; i < curve.size(); i += 2) {
      sum += curve[i].y;
      if (curve[i].y < 0.5) continue;
      low = std::min(low, curve[i].x);
      high = std::max(high, curve[i + 1].x);
    }
    EXPECT_NEAR(sum, 100, 1);
    const auto [least, most] = std::ranges::minmax(outcome.runs[r].product_us);
    EXPECT_LE(low, 1.01 * least);
    EXPECT_GE(low, 0.9 * least);
    EXPECT_GE(1.01 * high, most);
    EXPECT_LE(high, 1.1 * most);
  }
}

// csr 0 + 8000 us, albus 12 ms + 6000 us, petsc-aij 100 ms + 9000 us, albus (rcm) 1.5 s + 5800 us.
TEST(Charts, OfCostAreTheTotalsWithTheirCrossings) {
  const CaseOutcome outcome = test::sample_outcome();
  const Account account = account_of(outcome);
  const std::string chart = svg::cost(outcome, account).content;
  const DrawnAxis x(chart, "x", true), y(chart, "y", true);
  EXPECT_LT(x.worst_tick(), 0.2);
  ASSERT_EQ(account.entries.size(), 4u);
  for (int e = 0; e < 4; ++e) {
    const auto curve = drawn_curve(chart, e, x, y);
    ASSERT_GT(curve.size(), 20u);
    const KernelCost& cost = account.entries[e].cost;
    for (const DrawnPoint& p : curve)
      EXPECT_NEAR(p.y, cost.preprocessing_seconds + 1e-6 * cost.product_us * p.x, 0.02 * p.y);
  }
  // 12 ms / 2000 us = 6 and 1.488 s / 200 us = 7440.
  expect_close(drawn_circles(chart, "ring", x, y), {{6, 0.048}, {7440, 44.652}}, 0.02);
}

TEST(Charts, OfTheRooflineHaveEachKernelAndTheBandwidth) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.machine.best_gbytes_per_s = 40;
  const std::string chart = svg::roofline(outcome).content;
  const DrawnAxis x(chart, "x", true), y(chart, "y", true);
  std::smatch roof;
  ASSERT_TRUE(std::regex_search(
      chart, roof,
      std::regex("class=\"roof\" x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" "
                 "y2=\"([0-9.]+)\"")));
  for (int end : {1, 3})
    EXPECT_NEAR(y.number_at(std::stod(roof[end + 1])) / x.number_at(std::stod(roof[end])), 40, 0.5);
  // The marker of run 0 is a circle that begins 4 units to the left of its centre.
  std::smatch marker;
  ASSERT_TRUE(std::regex_search(chart, marker,
                                std::regex("class=\"marker s0\" d=\"M([0-9.]+) ([0-9.]+)a")));
  EXPECT_NEAR(x.number_at(std::stod(marker[1]) + 4), 1.0 / 6, 0.002);  // 2 flop per 12 bytes
  EXPECT_NEAR(y.number_at(std::stod(marker[2])), outcome.runs[0].gflops, 0.05);
  outcome.machine.in_cache_gbytes_per_s = 155;
  EXPECT_NE(svg::roofline(outcome).content.find(">memory: 40 GB/s<"), std::string::npos);
  outcome.machine.best_gbytes_per_s = 0;
  const std::string small = svg::roofline(outcome).content;
  std::smatch name;
  ASSERT_TRUE(std::regex_search(
      small, name, std::regex("x=\"([0-9.]+)\"[^>]*\"end\">arrays of this size: 155 GB/s<")));
  EXPECT_GT(std::stod(name[1]), 50 + 5.5 * 28) << "the name begins within the frame";
  EXPECT_NE(small.find("class=\"roof\""), std::string::npos);
  outcome.machine.in_cache_gbytes_per_s = 0;
  EXPECT_EQ(svg::roofline(outcome).content.find("class=\"roof\""), std::string::npos);
}

// Bandwidths of the other device say nothing about a run.
TEST(Charts, OfTheRooflineOnGpusHaveARoofForSmallMatricesToo) {
  CaseOutcome outcome = test::sample_outcome();
  for (RunOutcome& run : outcome.runs) run.device = Device::cuda;
  outcome.machine.best_gbytes_per_s = 40;
  outcome.machine.in_cache_gbytes_per_s = 155;
  EXPECT_EQ(svg::roofline(outcome).content.find("class=\"roof\""), std::string::npos);
  EXPECT_NE(html_report(outcome).find("No roof: the bandwidth was not measured."),
            std::string::npos);
  outcome.machine.gpu_in_cache_gbytes_per_s = 3384;
  const svg::Chart small = svg::roofline(outcome);
  EXPECT_NE(small.content.find("class=\"roof\""), std::string::npos);
  EXPECT_NE(small.content.find(">arrays of this size: 3384 GB/s<"), std::string::npos);
  EXPECT_NE(html_report(outcome).find("under the bandwidth of arrays that are as large"),
            std::string::npos);
  outcome.machine.gpu_gbytes_per_s = 2750;
  EXPECT_NE(svg::roofline(outcome).content.find(">memory: 2750 GB/s<"), std::string::npos);
  EXPECT_NE(html_report(outcome).find("under the measured memory bandwidth"), std::string::npos);
}

TEST(Charts, OfPartsAreAsWideAsTheirSeconds) {
  const std::string chart =
      svg::bars("id", "title", {{"a", {{"x", 1}, {"y", 3}}}, {"b", {{"x", 0}, {"y", 2}}}}).content;
  std::vector<double> widths;
  const std::regex rect("class=\"part p([0-9])\" x=\"([0-9.]+)\"[^>]* width=\"([0-9.]+)\"");
  for (std::sregex_iterator it(chart.begin(), chart.end(), rect), end; it != end; ++it)
    widths.push_back(std::stod((*it)[3]));
  EXPECT_EQ(widths, (std::vector<double>{100, 300, 200}));  // of 400 for 4 s
  EXPECT_TRUE(svg::bars("id", "title", {{"a", {{"x", 0}}}}).empty());
}

TEST(Charts, OfThePatternFillExactlyTheCellsWithNonzeros) {
  CaseOutcome outcome = test::sample_outcome();
  const std::string chart = svg::pattern(outcome).content;
  std::set<std::pair<int, int>> filled;
  const std::regex cell("M([0-9.]+) ([0-9.]+)h([0-9.]+)v([0-9.]+)");
  for (std::sregex_iterator it(chart.begin(), chart.end(), cell), end; it != end; ++it) {
    const int row = static_cast<int>((std::stod((*it)[2]) - 1) / 75 + 0.01);
    const int first = static_cast<int>((std::stod((*it)[1]) - 50) / 75 + 0.01);
    const int count = static_cast<int>(std::stod((*it)[3]) / 75 + 0.01);
    for (int j = first; j < first + count; ++j) EXPECT_TRUE(filled.emplace(row, j).second);
  }
  std::set<std::pair<int, int>> expected;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (outcome.pattern.density[4 * i + j] > 0) expected.emplace(i, j);
  EXPECT_EQ(filled, expected);
}

TEST(Charts, OfStepsAreTheirIterationsAndSeconds) {
  RunOutcome run = test::sample_run("csr", 0, 8000);
  run.steps = {test::sample_step("a", 120), test::sample_step("b", 90), test::sample_step("c", 50)};
  const std::string iterations = svg::step_iterations(run).content;
  const DrawnAxis x(iterations, "x", false), y(iterations, "y", false);
  expect_close(drawn_curve(iterations, 0, x, y), {{1, 120}, {2, 90}, {3, 50}}, 0.01);
  expect_close(drawn_circles(iterations, "end s1", x, y), {{1, 120}}, 0.01);
  const std::string seconds = svg::step_seconds(run).content;
  const DrawnAxis sx(seconds, "x", false), sy(seconds, "y", false);
  expect_close(drawn_curve(seconds, 0, sx, sy), {{1, 0.6}, {2, 0.45}, {3, 0.25}}, 0.01);
}

TEST(Charts, OfLongSeriesKeepEveryPeak) {
  std::vector<svg::Point> points;
  for (int i = 0; i < 200'000; ++i) points.push_back({static_cast<double>(i), 1});
  points[123'457].y = 9;
  points[77].y = NAN;
  const auto kept = svg::thin(points);
  EXPECT_LE(kept.size(), 800u);
  EXPECT_EQ(std::ranges::count_if(kept, [](const svg::Point& p) { return p.y == 9; }), 1);
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &svg::Point::x));
}

TEST(Charts, HaveTicksThatReadBack) {
  using svg::Scale;
  const auto labels = [](const Scale& scale) {
    std::string text;
    for (const double tick : scale.ticks()) text += svg::tick_label(tick) + " ";
    return text;
  };
  EXPECT_EQ(labels(Scale::linear(0, 312)), "0 100 200 300 ");
  EXPECT_EQ(labels(Scale::linear(0, 1)), "0 0.2 0.4 0.6 0.8 1 ");
  EXPECT_EQ(labels(Scale::logarithmic(3e-9, 0.9)), "1e-9 1e-7 1e-5 0.001 0.1 ");
  EXPECT_EQ(labels(Scale::logarithmic(30, 420)), "20 50 100 200 500 ");
  EXPECT_EQ(labels(Scale::logarithmic(5, 5)), "5 10 20 50 ");
  EXPECT_EQ(labels(Scale::logarithmic(1, 1e6)), "1 10 100 1000 10000 1e5 1e6 ");
}

TEST(Charts, AreNamedForScreenReaders) {
  const std::string page = html_report(test::sample_outcome());
  std::set<std::string> ids;
  const std::regex id(" id=\"([^\"]+)\"");
  for (std::sregex_iterator it(page.begin(), page.end(), id), end; it != end; ++it)
    EXPECT_TRUE(ids.insert((*it)[1]).second) << (*it)[1];
  const std::regex image(
      "<svg viewBox=\"[^\"]*\" role=\"img\" aria-labelledby=\"([^ ]+) ([^\"]+)\"");
  int images = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), image), end; it != end; ++it, ++images) {
    EXPECT_TRUE(ids.contains((*it)[1]));
    EXPECT_TRUE(ids.contains((*it)[2]));
  }
  EXPECT_GE(images, 11);
}

}  // namespace
}  // namespace trireme
