// SPDX-License-Identifier: BSD-3-Clause
// All sizes are in the units of the viewBox, which is about as wide as a telephone.
#include "report/svg_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace trireme::svg {
namespace {

constexpr double kLeft = 50, kRight = 22, kTop = 22, kBottom = 42;
constexpr double kSize = 4;  // of markers
constexpr std::size_t kMarkers = 6;

std::string path(std::size_t series, const std::string& d) {
  return fmt::format("<path class=\"marker s{}\" d=\"{}\"/>\n", series % kSeries, d);
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

std::vector<Point> thin(const std::vector<Point>& points, std::size_t buckets) {
  const std::size_t width = 2 * (points.size() / (2 * buckets) + 1);
  std::vector<Point> kept, bucket;
  for (std::size_t begin = 0; begin < points.size(); begin += width) {
    bucket.clear();
    for (std::size_t i = begin; i < std::min(begin + width, points.size()); ++i)
      if (std::isfinite(points[i].x) && std::isfinite(points[i].y)) bucket.push_back(points[i]);
    if (bucket.empty()) continue;
    auto [low, high] = std::ranges::minmax_element(bucket, {}, &Point::y);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  return kept;
}

std::string text(const std::string& css, double x, double y, const std::string& anchor,
                 const std::string& content) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                     css, x, y, anchor, escape(content));
}

std::string line(const std::string& css, double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1, y1,
      x2, y2);
}

std::string marker(std::size_t series, double x, double y) {
  constexpr double s = kSize, t = 1.25 * kSize;
  switch (series % kSeries) {
    case 0:
      return path(series, fmt::format("M{:.1f} {:.1f}a{} {} 0 1 0 {} 0a{} {} 0 1 0 {} 0z", x - s, y,
                                      s, s, 2 * s, s, s, -2 * s));
    case 1:
      return path(series,
                  fmt::format("M{:.1f} {:.1f}h{}v{}h{}z", x - s, y - s, 2 * s, 2 * s, -2 * s));
    case 2:
      return path(series, fmt::format("M{:.1f} {:.1f}l{} {}h{}z", x, y - t, t, 2 * s, -2 * t));
    case 3:
      return path(series,
                  fmt::format("M{:.1f} {:.1f}l{} {}l{} {}l{} {}z", x, y - t, t, t, -t, t, -t, -t));
    case 4:
      return path(series, fmt::format("M{:.1f} {:.1f}l{} {}m0 {}l{} {}", x - s, y - s, 2 * s, 2 * s,
                                      -2 * s, -2 * s, 2 * s));
    case 5:
      return path(series,
                  fmt::format("M{:.1f} {:.1f}v{}m{} {}h{}", x, y - t, 2 * t, -t, -t, 2 * t));
    case 6:
      return path(series, fmt::format("M{:.1f} {:.1f}l{} {}h{}z", x, y + t, t, -2 * s, -2 * t));
    default:
      return path(series, fmt::format("M{:.1f} {:.1f}h3v{}h-3z", x - 1.5, y - t, 2 * t));
  }
}

Frame::Frame(const Labels& labels, const Scale& x, const Scale& y)
    : labels_(labels),
      x_(x.between(kLeft, kWidth - kRight)),
      y_(y.between(kHeight - kBottom, kTop)) {
  const double left = kLeft, right = kWidth - kRight, bottom = kHeight - kBottom;
  for (const double tick : y_.ticks()) {
    svg_ += line("grid", left, y_(tick), right, y_(tick));
    svg_ += text("tick y", left - 6, y_(tick) + 4, "end", tick_label(tick));
  }
  for (const double tick : x_.ticks()) {
    svg_ += line("grid", x_(tick), kTop, x_(tick), bottom);
    svg_ += text("tick x", x_(tick), bottom + 16, "middle", tick_label(tick));
  }
  svg_ += text("axis", right, kHeight - 6, "end", labels.x);
  svg_ += text("axis", 4, 12, "start", labels.y);
}

Chart Frame::chart(std::vector<std::string> series, const Csv& csv) const {
  return {.id = labels_.id,
          .title = labels_.title,
          .description = labels_.description,
          .height = kHeight,
          .content = svg_,
          .csv = csv.text(),
          .series = std::move(series)};
}

void Frame::line_through(std::size_t series, const std::vector<Point>& points, const char* css) {
  const std::vector<Point> kept = thin(points);
  if (kept.empty()) return;
  fmt::format_to(std::back_inserter(svg_), "<polyline class=\"{} s{}\" points=\"", css,
                 series % kSeries);
  for (const Point& p : kept) {
    const Point place{x_(p.x), y_(p.y)};
    fmt::format_to(std::back_inserter(svg_), "{:.2f},{:.2f} ", place.x, place.y);
    const Point before = &p == kept.data() ? place : drawn_.back();
    // Points between these two at most as far apart as a marker is wide.
    const double parts =
        std::ceil(std::hypot(place.x - before.x, place.y - before.y) / (2 * kSize));
    for (double part = 1; part < parts; ++part)
      drawn_.push_back({before.x + (place.x - before.x) * part / parts,
                        before.y + (place.y - before.y) * part / parts});
    drawn_.push_back(place);
  }
  svg_ += "\"/>\n";
}

void Frame::curve(std::size_t series, const std::vector<Point>& points) {
  line_through(series, points);
  const std::vector<Point> kept = thin(points);
  // Markers of several series are not above each other.
  const std::size_t distance = std::max<std::size_t>(kept.size() / kMarkers, 1);
  for (std::size_t i = distance * (1 + series % 4) / 5; i < kept.size(); i += distance)
    mark(series, kept[i]);
}

void Frame::mark(std::size_t series, const Point& point) {
  drawn_.push_back({x_(point.x), y_(point.y)});
  svg_ += marker(series, x_(point.x), y_(point.y));
}

void Frame::ring(const Point& point, const std::string& label) {
  svg_ += fmt::format("<circle class=\"ring\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"6\"/>\n", x_(point.x),
                      y_(point.y));
  svg_ += text("note", x_(point.x), y_(point.y) - 10, "middle", label);
}

void Frame::end(const Point& point, std::size_t series) {
  drawn_.push_back({x_(point.x), y_(point.y)});
  svg_ += fmt::format("<circle class=\"end s{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"7\"/>\n",
                      series % kSeries, x_(point.x), y_(point.y));
}

void Frame::horizontal(double y, const std::string& css, const std::string& label) {
  constexpr double kHalf = 14;  // the half of a label's width
  const double place = y_(y), left = kLeft + 4 + kHalf, right = kWidth - kRight - 4 - kHalf;
  const double above = place > kTop + 20 ? place - 4 : place + 13;
  double best = left, farthest = -1;
  for (const double x : {left, 0.75 * left + 0.25 * right, 0.5 * (left + right),
                         0.25 * left + 0.75 * right, right}) {
    double nearest = kWidth;
    for (const Point& p : drawn_)
      nearest = std::min(nearest,
                         std::hypot(std::max(std::abs(p.x - x) - kHalf, 0.0), p.y - (above - 4)));
    if (nearest <= farthest) continue;
    best = x;
    farthest = nearest;
  }
  svg_ += line(css, kLeft, place, kWidth - kRight, place);
  svg_ += text("note", best, above, "middle", label);
}

void Frame::vertical(double x, const std::string& css, const std::string& label) {
  svg_ += line(css, x_(x), kTop, x_(x), kHeight - kBottom);
  const bool right_half = x_(x) > kWidth / 2;
  svg_ +=
      text("note", x_(x) + (right_half ? -4 : 4), kTop + 11, right_half ? "end" : "start", label);
}

}  // namespace trireme::svg
