// SPDX-License-Identifier: BSD-3-Clause
// Axes, lines and bars are drawn here, so that a report needs no library to be read.
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "report/words.hpp"

namespace trireme::svg {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 64, kRight = 16, kTop = 14, kBottom = 44;

struct Point {
  double iteration, exponent;  // exponent: log10 of the residual
};

// At most about 2000 points that keep every peak: the minimum and the maximum of each bucket.
std::vector<Point> thin(const std::vector<double>& history) {
  constexpr std::size_t kBuckets = 1000;
  const std::size_t stride = history.size() / (2 * kBuckets) + 1;
  std::vector<Point> points;
  for (std::size_t begin = 0; begin < history.size(); begin += 2 * stride) {
    std::vector<Point> bucket;
    for (std::size_t i = begin; i < std::min(begin + 2 * stride, history.size()); ++i)
      if (std::isfinite(history[i]) && history[i] > 0)
        bucket.push_back({static_cast<double>(i), std::log10(history[i])});
    if (bucket.empty()) continue;
    auto [low, high] = std::ranges::minmax_element(bucket, {}, &Point::exponent);
    if (high < low) std::swap(low, high);
    points.push_back(*low);
    if (high != low) points.push_back(*high);
  }
  return points;
}

// 1, 2 or 5 times a power of ten, so that about `parts` steps cover `range`.
double nice_step(double range, int parts) {
  const double rough = range / parts;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1, 2, 5})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

std::string text(double x, double y, const char* anchor, const std::string& content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape(content));
}

std::string line(const char* css, double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1, y1,
      x2, y2);
}

std::string open(double height, const char* label) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                     height, label);
}

}  // namespace

std::string escape(const std::string& content) {
  std::string out;
  for (const char c : content) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string convergence(const CaseOutcome& outcome) {
  std::vector<std::vector<Point>> curves;
  double last = 1, low = std::numeric_limits<double>::infinity(), high = -low;
  for (const RunOutcome& run : outcome.runs) {
    curves.push_back(thin(run.history));
    for (const Point& p : curves.back()) {
      last = std::max(last, p.iteration);
      low = std::min(low, p.exponent);
      high = std::max(high, p.exponent);
    }
  }
  if (!(low <= high)) return "";
  low = std::floor(low);
  high = std::max(std::ceil(high), low + 1);

  constexpr double height = 380;
  const double right = kWidth - kRight, bottom = height - kBottom;
  const auto x = [&](double iteration) { return kLeft + (right - kLeft) * iteration / last; };
  const auto y = [&](double exponent) {
    return kTop + (bottom - kTop) * (high - exponent) / (high - low);
  };

  std::string out = open(height, "Residual over iterations");
  for (double e = low; e <= high; e += std::max(1.0, nice_step(high - low, 10))) {
    out += line("grid", kLeft, y(e), right, y(e));
    out += text(kLeft - 8, y(e) + 4, "end", fmt::format("1e{:+.0f}", e));
  }
  for (double i = 0; i <= last; i += std::max(1.0, nice_step(last, 8))) {
    out += line("grid", x(i), kTop, x(i), bottom);
    out += text(x(i), bottom + 18, "middle", fmt::format("{:.0f}", i));
  }
  out += text((kLeft + right) / 2, height - 6, "middle", "iteration");
  if (const double rtol = std::log10(outcome.runs.front().rtol); rtol >= low && rtol <= high) {
    out += line("tolerance", kLeft, y(rtol), right, y(rtol));
    out += text(kLeft + 6, y(rtol) - 5, "start", "rtol");
  }
  for (std::size_t r = 0; r < curves.size(); ++r) {
    fmt::format_to(std::back_inserter(out), "<polyline class=\"curve s{}\" points=\"",
                   r % kColours);
    for (const Point& p : curves[r])
      fmt::format_to(std::back_inserter(out), "{:.1f},{:.1f} ", x(p.iteration), y(p.exponent));
    out += "\"/>\n";
  }
  return out + "</svg>\n";
}

std::string kernel_times(const CaseOutcome& outcome) {
  constexpr double bar = 20, pitch = 32, names = 170, labels = 90;
  double longest = 0;
  for (const RunOutcome& run : outcome.runs)
    for (const double time : {run.kernel_us.median, run.kernel_us.p95})
      if (std::isfinite(time)) longest = std::max(longest, time);
  if (longest <= 0) return "";

  const auto width = [&](double us) {
    return std::isfinite(us) ? (kWidth - names - labels) * us / longest : 0.0;
  };
  std::string out =
      open(pitch * static_cast<double>(outcome.runs.size()) + 4, "Time of one product");
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    const double top = pitch * static_cast<double>(r) + 6, middle = top + bar / 2;
    const double median = width(run.kernel_us.median), p95 = width(run.kernel_us.p95);
    out += text(names - 10, middle + 4, "end", label(run));
    out += fmt::format(
        "<rect class=\"bar s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
        r % kColours, names, top, median, bar);
    out += line("whisker", names + median, middle, names + p95, middle);
    out += line("whisker", names + p95, middle - 5, names + p95, middle + 5);
    out += text(names + std::max(median, p95) + 8, middle + 4, "start",
                words::seconds(run.kernel_us.median * 1e-6));
  }
  return out + "</svg>\n";
}

}  // namespace trireme::svg
