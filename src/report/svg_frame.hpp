// SPDX-License-Identifier: BSD-3-Clause
// The frame that all charts with two axes share: grid, ticks, names of the axes, curves, markers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/svg_chart.hpp"
#include "report/svg_scale.hpp"

namespace trireme::svg {

constexpr std::size_t kSeries = 8;  // colours, dashes and markers before they repeat
constexpr double kHeight = 270;     // of charts with axes

struct Point {
  double x = 0, y = 0;
};

// The characters that HTML and SVG reserve, replaced by entities.
std::string escape(const std::string& content);

// At most 2 * `buckets` points that keep every peak: the minimum and the maximum of each bucket of
// neighbours. Points that are not finite are left out.
std::vector<Point> thin(const std::vector<Point>& points, std::size_t buckets = 400);

// `css` is the class.
std::string text(const std::string& css, double x, double y, const std::string& anchor,
                 const std::string& content);
std::string line(const std::string& css, double x1, double y1, double x2, double y2);
// The shape of a series: circle, square, triangle, diamond, cross, plus, triangle down, bar.
std::string marker(std::size_t series, double x, double y);

struct Labels {
  std::string id, title, description, x, y;
};

class Frame {
 public:
  Frame(const Labels& labels, const Scale& x, const Scale& y);

  double x(double number) const { return x_(number); }
  double y(double number) const { return y_(number); }

  // A line through the points, thinned, with a few markers on it.
  void curve(std::size_t series, const std::vector<Point>& points);
  // The same without markers, in the style of curves or behind them.
  void line_through(std::size_t series, const std::vector<Point>& points,
                    const char* css = "curve");
  void mark(std::size_t series, const Point& point);
  // A ring with a label above it, and a larger ring in the colour of a series.
  void ring(const Point& point, const std::string& label);
  void end(const Point& point, std::size_t series);
  // Lines across the whole frame. The label of a horizontal one stands where the curves and the
  // marks that are there by then are farthest away.
  void horizontal(double y, const std::string& css, const std::string& label);
  void vertical(double x, const std::string& css, const std::string& label);
  void add(const std::string& svg) { svg_ += svg; }

  // The chart, of curves with these names and of these numbers.
  Chart chart(std::vector<std::string> series, const Csv& csv) const;

 private:
  Labels labels_;
  Scale x_, y_;
  std::string svg_;
  std::vector<Point> drawn_;  // places of points of curves and of marks
};

}  // namespace trireme::svg
