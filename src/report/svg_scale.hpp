// SPDX-License-Identifier: BSD-3-Clause
// The scales of all charts: from numbers to places, with the ticks between.
#pragma once

#include <string>
#include <vector>

namespace trireme::svg {

// Maps the numbers low .. high to the places from .. to.
class Scale {
 public:
  // `low` < `high`; where they are equal, `high` becomes low + 1.
  static Scale linear(double low, double high);
  // Both positive. The range is widened to the next ticks, and to at least one power of ten where
  // `low` equals `high`.
  static Scale logarithmic(double low, double high);

  Scale between(double from, double to) const;
  double operator()(double number) const;
  double low() const { return low_; }
  double high() const { return high_; }
  std::vector<double> ticks() const;

 private:
  Scale(double low, double high, bool logarithmic)
      : low_(low), high_(high), logarithmic_(logarithmic) {}
  double low_, high_;
  bool logarithmic_;
  double from_ = 0, to_ = 1;
};

// Whether a logarithmic scale has a place for the number.
bool drawable(double number);

// The shortest text that reads back as the number of a tick: 0, 0.5, 200, 1e-8.
std::string tick_label(double number);

}  // namespace trireme::svg
