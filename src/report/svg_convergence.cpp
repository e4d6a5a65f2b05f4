// SPDX-License-Identifier: BSD-3-Clause
// The curve is what the method's recurrence says; the ring is b - A x.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

std::vector<Point> curve_of(const RunOutcome& run) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < run.history.size(); ++i)
    if (drawable(run.history[i])) points.push_back({static_cast<double>(i), run.history[i]});
  return points;
}

}  // namespace

Chart convergence(const CaseOutcome& outcome, Amount amount) {
  double last = 1, low = std::numeric_limits<double>::infinity(), high = 0;
  std::string description;
  for (const RunOutcome& run : outcome.runs) {
    auto points = curve_of(run);
    if (points.empty()) continue;
    if (drawable(run.relative_residual)) points.push_back({0, run.relative_residual});
    for (const Point& p : points) {
      last = std::max(last, p.x);
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
    description += fmt::format("{}: {} iterations, true residual {:.1e}. ", label(run),
                               run.iterations, run.relative_residual);
  }
  if (high <= 0) return {};
  Frame frame({.id = "convergence",
               .title = "Residual over iterations",
               .description = description,
               .x = "iteration",
               .y = "residual / ‖b‖"},
              Scale::linear(0, last), Scale::logarithmic(low, high));
  if (const double rtol = outcome.runs.front().rtol; rtol >= low && rtol <= high)
    frame.horizontal(rtol, "tolerance", "rtol");
  Csv csv("kernel,residual,iteration,relative_residual");
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    const auto points = curve_of(run);
    if (points.empty()) continue;
    frame.curve(r, points);
    for (const Point& p : amount == Amount::all ? points : thin(points))
      csv.row(label(run), "method", p.x, p.y);
    if (!drawable(run.relative_residual)) continue;
    frame.end({points.back().x, run.relative_residual}, r);
    csv.row(label(run), "true", points.back().x, run.relative_residual);
  }
  return frame.chart(words::labels(outcome), csv);
}

}  // namespace trireme::svg
