// SPDX-License-Identifier: BSD-3-Clause
// Reads a chart back: the numbers that a reader sees, from the places of curves between the ticks.
#pragma once

#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace trireme::test {

struct DrawnPoint {
  double x, y;
};

// An axis by its ticks alone: two of them tell the scale, the others confirm it.
class DrawnAxis {
 public:
  DrawnAxis(const std::string& chart, const std::string& name, bool logarithmic)
      : logarithmic_(logarithmic) {
    const std::regex tick("<text class=\"tick " + name +
                          "\" x=\"([0-9.-]+)\" y=\"([0-9.-]+)\"[^>]*>([^<]+)</text>");
    for (std::sregex_iterator it(chart.begin(), chart.end(), tick), end; it != end; ++it) {
      // The text of a tick of y stands 4 units below its line.
      const double place = name == "x" ? std::stod((*it)[1]) : std::stod((*it)[2]) - 4;
      ticks_.emplace_back(place, std::stod((*it)[3]));
    }
  }

  std::size_t ticks() const { return ticks_.size(); }

  double number_at(double place) const {
    const auto [p0, n0] = ticks_.front();
    const auto [p1, n1] = ticks_.back();
    const double part = (place - p0) / (p1 - p0);
    return logarithmic_ ? n0 * std::pow(n1 / n0, part) : n0 + part * (n1 - n0);
  }

  // The largest distance of a tick from where its label says that it is, in units of the image.
  double worst_tick() const {
    const auto [p0, n0] = ticks_.front();
    const auto [p1, n1] = ticks_.back();
    double worst = 0;
    for (const auto& [place, number] : ticks_) {
      const double part =
          logarithmic_ ? std::log(number / n0) / std::log(n1 / n0) : (number - n0) / (n1 - n0);
      worst = std::max(worst, std::abs(p0 + part * (p1 - p0) - place));
    }
    return worst;
  }

 private:
  bool logarithmic_;
  std::vector<std::pair<double, double>> ticks_;  // place, number
};

// The points of the curve of a series, as numbers.
inline std::vector<DrawnPoint> drawn_curve(const std::string& chart, int series, const DrawnAxis& x,
                                           const DrawnAxis& y, const std::string& css = "curve") {
  const std::regex curve("<polyline class=\"" + css + " s" + std::to_string(series) +
                         "\" points=\"([^\"]*)\"");
  std::smatch found;
  std::vector<DrawnPoint> points;
  if (!std::regex_search(chart, found, curve)) return points;
  const std::string places = found[1];
  const std::regex pair("([0-9.-]+),([0-9.-]+)");
  for (std::sregex_iterator it(places.begin(), places.end(), pair), end; it != end; ++it)
    points.push_back({x.number_at(std::stod((*it)[1])), y.number_at(std::stod((*it)[2]))});
  return points;
}

// The centres of circles of a class, as numbers.
inline std::vector<DrawnPoint> drawn_circles(const std::string& chart, const std::string& css,
                                             const DrawnAxis& x, const DrawnAxis& y) {
  const std::regex circle("<circle class=\"" + css + "\" cx=\"([0-9.-]+)\" cy=\"([0-9.-]+)\"");
  std::vector<DrawnPoint> points;
  for (std::sregex_iterator it(chart.begin(), chart.end(), circle), end; it != end; ++it)
    points.push_back({x.number_at(std::stod((*it)[1])), y.number_at(std::stod((*it)[2]))});
  return points;
}

}  // namespace trireme::test
