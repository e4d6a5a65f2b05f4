// SPDX-License-Identifier: BSD-3-Clause
// Times of products one after another, and their distribution.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

constexpr std::size_t kBins = 32, kMedians = 24;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0;
};

Range times_of(const CaseOutcome& outcome) {
  Range range;
  for (const RunOutcome& run : outcome.runs)
    for (const double us : run.product_us)
      if (drawable(us)) {
        range.low = std::min(range.low, us);
        range.high = std::max(range.high, us);
      }
  return range;
}

std::string medians(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs)
    text += fmt::format("{}: median {:.4g} us, 95th percentile {:.4g} us. ", label(run),
                        run.kernel_us.median, run.kernel_us.p95);
  return text;
}

// Percent of the products in each bin, as the outline of the bars.
std::vector<Point> outline(const std::vector<double>& times, const Scale& bins) {
  std::vector<double> counts(kBins);
  double all = 0;
  for (const double us : times) {
    if (!drawable(us)) continue;
    ++counts[std::min(static_cast<std::size_t>(bins(us)), kBins - 1)];
    ++all;
  }
  std::vector<Point> points;
  const double width = std::log(bins.high() / bins.low()) / kBins;
  for (std::size_t bin = 0; bin < kBins && all > 0; ++bin) {
    const auto edge = [&](std::size_t b) {
      return bins.low() * std::exp(width * static_cast<double>(b));
    };
    points.push_back({edge(bin), 100 * counts[bin] / all});
    points.push_back({edge(bin + 1), 100 * counts[bin] / all});
  }
  return points;
}

// The outline without the empty bins at its ends, but for one on each side.
std::vector<Point> trimmed(const std::vector<Point>& outline) {
  const auto full = [](const Point& p) { return p.y > 0; };
  const auto first = std::ranges::find_if(outline, full) - outline.begin();
  const auto end = std::find_if(outline.rbegin(), outline.rend(), full).base() - outline.begin();
  if (first >= end) return {};
  return {outline.begin() + std::max<std::ptrdiff_t>(first - 2, 0),
          outline.begin() + std::min(end + 2, std::ssize(outline))};
}

// The medians of kMedians groups of neighbours, at the middle of each group.
std::vector<Point> medians_of(const std::vector<Point>& points) {
  const std::size_t width = (points.size() - 1) / kMedians + 1;
  std::vector<Point> medians;
  std::vector<double> times;
  for (std::size_t begin = 0; begin < points.size(); begin += width) {
    const std::size_t end = std::min(begin + width, points.size());
    times.clear();
    for (std::size_t i = begin; i < end; ++i) times.push_back(points[i].y);
    const auto middle = times.begin() + std::ssize(times) / 2;
    std::ranges::nth_element(times, middle);
    medians.push_back({0.5 * (points[begin].x + points[end - 1].x), *middle});
  }
  return medians;
}

}  // namespace

Chart product_times(const CaseOutcome& outcome, Amount amount) {
  const Range range = times_of(outcome);
  if (range.high <= 0) return {};
  double last = 1;
  for (const RunOutcome& run : outcome.runs)
    if (!run.product_us.empty())
      last = std::max(last, static_cast<double>(run.product_us_stride) *
                                static_cast<double>(run.product_us.size() - 1));
  Frame frame({.id = "product-times",
               .title = "Time of each product over the run",
               .description = medians(outcome),
               .x = "product",
               .y = "time of one product, us"},
              Scale::linear(0, last), Scale::logarithmic(range.low, range.high));
  Csv csv("kernel,product,time_us");
  std::vector<std::vector<Point>> medians;
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    std::vector<Point> points;
    for (std::size_t i = 0; i < run.product_us.size(); ++i)
      if (drawable(run.product_us[i]))
        points.push_back({static_cast<double>(run.product_us_stride) * static_cast<double>(i),
                          run.product_us[i]});
    if (outcome.runs.size() > 1 && points.size() >= 2 * kMedians) {
      frame.line_through(r, points, "faint");
      medians.push_back(medians_of(points));
    } else {
      medians.push_back(points);
    }
    for (const Point& p : amount == Amount::all ? points : thin(points))
      csv.row(label(run), p.x, p.y);
  }
  for (std::size_t r = 0; r < medians.size(); ++r) frame.curve(r, medians[r]);
  return frame.chart(words::labels(outcome), csv);
}

Chart product_distribution(const CaseOutcome& outcome) {
  const Range range = times_of(outcome);
  if (range.high <= 0) return {};
  const Scale times = Scale::logarithmic(range.low, range.high);
  const Scale bins = times.between(0, kBins);
  std::vector<std::vector<Point>> outlines;
  double highest = 0;
  for (const RunOutcome& run : outcome.runs) {
    outlines.push_back(outline(run.product_us, bins));
    for (const Point& p : outlines.back()) highest = std::max(highest, p.y);
  }
  Frame frame({.id = "product-distribution",
               .title = "Distribution of the times of products",
               .description = medians(outcome),
               .x = "time of one product, us",
               .y = "% of products"},
              times, Scale::linear(0, highest));
  Csv csv("kernel,time_from_us,time_to_us,percent_of_products");
  for (std::size_t r = 0; r < outlines.size(); ++r) {
    frame.line_through(r, trimmed(outlines[r]));
    for (std::size_t i = 0; i + 1 < outlines[r].size(); i += 2)
      csv.row(label(outcome.runs[r]), outlines[r][i].x, outlines[r][i + 1].x, outlines[r][i].y);
  }
  // One marker per run, on the times that are most frequent.
  for (std::size_t r = 0; r < outlines.size(); ++r) {
    const auto top = std::ranges::max_element(outlines[r], {}, &Point::y);
    if (top == outlines[r].end()) continue;
    frame.mark(r, {std::sqrt(top->x * std::next(top)->x), top->y});
  }
  return frame.chart(words::labels(outcome), csv);
}

}  // namespace trireme::svg
