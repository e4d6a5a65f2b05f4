// SPDX-License-Identifier: BSD-3-Clause
// When the preconditioner of a sequence takes the new values of the matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/case.hpp"
#include "petsc/ksp/ksp_solver.hpp"

namespace trireme {

// The adaptive rule counts the seconds that iterations have taken beyond those that a new
// preconditioner would have needed, and renews when they exceed the seconds of a renewal. What a
// new preconditioner needs is measured in the first solve after a renewal, in iterations per decade
// by which the residual falls, because the guesses of steps differ in quality.
//
// A renewal may keep a structure that was made for older values, such as the aggregates of
// multigrid. The same rule judges that structure: it counts the seconds of the iterations that a
// renewed preconditioner needs beyond one with a new structure, and makes a new one when they
// exceed the seconds of setting up everything.
class Renewal {
 public:
  // `seconds`: of setting up the preconditioner for the first time, until a renewal is measured.
  // `structure`: whether there is one that a renewal keeps.
  Renewal(Renew rule, double seconds, bool structure = false)
      : rule_(rule), structure_(structure), cost_(seconds), whole_cost_(seconds) {}

  // What the next step with new values renews.
  Renewing due() const {
    if (rule_ == Renew::always) return Renewing::numbers;
    if (rule_ == Renew::never) return Renewing::nothing;
    if (structure_ && lost_by_structure_ > whole_cost_) return Renewing::everything;
    return lost_ > cost_ ? Renewing::numbers : Renewing::nothing;
  }
  // The numbers were renewed, and the structure is the old one.
  void renewed(double seconds) {
    cost_ = seconds;
    lost_ = 0;
    per_decade_ = 0;
  }
  // Everything was set up, with a structure that a renewal keeps or without one.
  void set_up(double seconds, bool structure) {
    renewed(seconds);
    structure_ = structure;
    whole_cost_ = seconds;
    lost_by_structure_ = 0;
    per_decade_of_new_ = 0;
  }
  // A solve took `iterations` and `seconds`, and the residual fell by `decades` powers of ten.
  void solved(std::int64_t iterations, double decades, double seconds) {
    if (iterations <= 0 || !(decades >= kMinDecades)) return;
    const auto count = static_cast<double>(iterations);
    if (per_decade_ == 0) per_decade_ = count / decades;
    if (per_decade_of_new_ == 0) per_decade_of_new_ = per_decade_;
    const double beyond = count - per_decade_ * decades;
    const double by_structure =
        (std::min(per_decade_, count / decades) - per_decade_of_new_) * decades;
    if (beyond > 0) lost_ += beyond * seconds / count;
    if (by_structure > 0) lost_by_structure_ += by_structure * seconds / count;
  }

 private:
  static constexpr double kMinDecades = 1;  // a shorter solve says little about the rate

  Renew rule_;
  bool structure_;
  double cost_, whole_cost_;
  double lost_ = 0;               // seconds since the last renewal
  double lost_by_structure_ = 0;  // seconds since everything was set up
  double per_decade_ = 0;         // iterations after the last renewal; 0: no solve since then
  double per_decade_of_new_ = 0;  // iterations after everything was set up; 0: likewise
};

}  // namespace trireme
