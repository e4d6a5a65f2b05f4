// SPDX-License-Identifier: BSD-3-Clause
// When the preconditioner of a sequence takes the new values of the matrix.
#pragma once

#include <cstdint>

#include "config/case.hpp"

namespace trireme {

// The adaptive rule counts the seconds that iterations have taken beyond those that a new
// preconditioner would have needed, and renews when they exceed the seconds of a renewal. What a
// new preconditioner needs is measured in the first solve after a renewal, in iterations per decade
// by which the residual falls, because the guesses of steps differ in quality.
class Renewal {
 public:
  // `seconds`: of setting up the preconditioner for the first time, until a renewal is measured.
  Renewal(Renew rule, double seconds) : rule_(rule), cost_(seconds) {}

  // Whether the next step with new values renews.
  bool due() const { return rule_ == Renew::always || (rule_ == Renew::adaptive && lost_ > cost_); }
  void renewed(double seconds) {
    cost_ = seconds;
    lost_ = 0;
    per_decade_ = 0;
  }
  // A solve took `iterations` and `seconds`, and the residual fell by `decades` powers of ten.
  void solved(std::int64_t iterations, double decades, double seconds) {
    if (iterations <= 0 || !(decades >= kMinDecades)) return;
    const auto count = static_cast<double>(iterations);
    if (per_decade_ == 0) per_decade_ = count / decades;
    const double beyond = count - per_decade_ * decades;
    if (beyond > 0) lost_ += beyond * seconds / count;
  }

 private:
  static constexpr double kMinDecades = 1;  // a shorter solve says little about the rate

  Renew rule_;
  double cost_;
  double lost_ = 0;        // seconds since the last renewal
  double per_decade_ = 0;  // iterations after the last renewal; 0: no solve since then
};

}  // namespace trireme
