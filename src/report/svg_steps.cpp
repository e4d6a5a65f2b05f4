// SPDX-License-Identifier: BSD-3-Clause
// What changed from step to step.
#include <fmt/format.h>

#include <algorithm>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"

namespace trireme::svg {
namespace {

double last_of(const RunOutcome& run) {
  return std::max(1.0, static_cast<double>(run.steps.size()));
}

}  // namespace

Chart step_iterations(const RunOutcome& run) {
  if (run.steps.size() < 2) return {};
  std::vector<Point> points, renewed;
  double most = 1;
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    const Point p{static_cast<double>(s + 1), static_cast<double>(run.steps[s].iterations)};
    points.push_back(p);
    if (run.steps[s].renewed) renewed.push_back(p);
    most = std::max(most, p.y);
  }
  Frame frame({.id = "step-iterations-" + plain_name(label(run)),
               .title = "Iterations of each step",
               .description = fmt::format("{} steps of {}, at most {} iterations; the "
                                          "preconditioner was renewed in {} of them.",
                                          points.size(), label(run), most, renewed.size()),
               .x = "step",
               .y = "iterations"},
              Scale::linear(1, last_of(run)), Scale::linear(0, most));
  frame.curve(0, points);
  for (const Point& p : thin(renewed)) frame.end(p, 1);
  Csv csv("step,name,iterations,renewed");
  for (std::size_t s = 0; s < run.steps.size(); ++s)
    csv.row(s + 1, run.steps[s].name, run.steps[s].iterations, run.steps[s].renewed ? 1 : 0);
  return frame.chart({label(run)}, csv);
}

Chart step_seconds(const RunOutcome& run) {
  if (run.steps.size() < 2) return {};
  std::vector<Point> read, renew, solve;
  double most = 0, sums[3] = {};
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    const StepOutcome& step = run.steps[s];
    const auto x = static_cast<double>(s + 1);
    read.push_back({x, step.read_seconds});
    renew.push_back({x, step.renew_seconds});
    solve.push_back({x, step.solve_seconds});
    most = std::max({most, step.read_seconds, step.renew_seconds, step.solve_seconds});
    sums[0] += step.read_seconds;
    sums[1] += step.renew_seconds;
    sums[2] += step.solve_seconds;
  }
  Frame frame({.id = "step-seconds-" + plain_name(label(run)),
               .title = "Seconds of each step",
               .description = fmt::format("{} steps of {}: reading {:.3g} s, renewing {:.3g} s, "
                                          "solving {:.3g} s in all.",
                                          run.steps.size(), label(run), sums[0], sums[1], sums[2]),
               .x = "step",
               .y = "seconds"},
              Scale::linear(1, last_of(run)), Scale::linear(0, most));
  frame.curve(0, solve);
  frame.curve(1, renew);
  frame.curve(2, read);
  Csv csv("step,name,read_seconds,renew_seconds,solve_seconds");
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    const StepOutcome& step = run.steps[s];
    csv.row(s + 1, step.name, step.read_seconds, step.renew_seconds, step.solve_seconds);
  }
  return frame.chart({"solving", "renewing", "reading"}, csv);
}

}  // namespace trireme::svg
