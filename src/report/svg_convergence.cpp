// SPDX-License-Identifier: BSD-3-Clause
// The curves are what the method's recurrence says; the rings are b - A x.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

enum class Over { iterations, seconds };

// What x counts per iteration. A run knows the mean time of an iteration, not that of each one.
double per_iteration(const RunOutcome& run, Over over) {
  return over == Over::iterations ? 1 : 1e-6 * run.iteration_us;
}

// Residuals over iterations.
std::vector<Point> history_of(const RunOutcome& run, Over over) {
  std::vector<Point> points;
  if (!drawable(per_iteration(run, over))) return points;
  for (std::size_t i = 0; i < run.history.size(); ++i)
    if (drawable(run.history[i])) points.push_back({static_cast<double>(i), run.history[i]});
  return points;
}

std::string in_words(const RunOutcome& run, Over over) {
  const std::string time = over == Over::seconds
                               ? fmt::format(" of {} each", words::seconds(1e-6 * run.iteration_us))
                               : "";
  return fmt::format("{}: {} iterations{}, true residual {:.1e}. ", label(run), run.iterations,
                     time, run.relative_residual);
}

Chart residuals(const CaseOutcome& outcome, Over over, Amount amount) {
  double last = 0, low = std::numeric_limits<double>::infinity(), high = 0;
  std::string description;
  for (const RunOutcome& run : outcome.runs) {
    auto points = history_of(run, over);
    if (points.empty()) continue;
    if (drawable(run.relative_residual)) points.push_back({0, run.relative_residual});
    for (const Point& p : points) {
      last = std::max(last, p.x * per_iteration(run, over));
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
    description += in_words(run, over);
  }
  if (high <= 0) return {};
  const bool seconds = over == Over::seconds;
  Frame frame({.id = seconds ? "convergence-seconds" : "convergence",
               .title = seconds ? "Residual over seconds" : "Residual over iterations",
               .description = description,
               .x = seconds ? "seconds of iterating" : "iteration",
               .y = "residual / ‖b‖"},
              Scale::linear(0, last), Scale::logarithmic(low, high));
  Csv csv(seconds ? "kernel,residual,iteration,seconds,relative_residual"
                  : "kernel,residual,iteration,relative_residual");
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    const std::vector<Point> history = history_of(run, over);
    if (history.empty()) continue;
    const double factor = per_iteration(run, over);
    const auto add = [&](const char* residual, const Point& p) {
      if (seconds)
        csv.row(label(run), residual, p.x, p.x * factor, p.y);
      else
        csv.row(label(run), residual, p.x, p.y);
    };
    std::vector<Point> places = history;
    for (Point& p : places) p.x *= factor;
    frame.curve(r, places);
    for (const Point& p : amount == Amount::all ? history : thin(history)) add("method", p);
    if (!drawable(run.relative_residual)) continue;
    frame.end({places.back().x, run.relative_residual}, r);
    add("true", {history.back().x, run.relative_residual});
  }
  if (const double rtol = outcome.runs.front().rtol; rtol >= low && rtol <= high)
    frame.horizontal(rtol, "tolerance", "rtol");
  return frame.chart(words::labels(outcome), csv);
}

}  // namespace

Chart convergence(const CaseOutcome& outcome, Amount amount) {
  return residuals(outcome, Over::iterations, amount);
}

Chart convergence_seconds(const CaseOutcome& outcome, Amount amount) {
  return residuals(outcome, Over::seconds, amount);
}

}  // namespace trireme::svg
