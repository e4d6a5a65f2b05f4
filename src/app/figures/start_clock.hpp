// SPDX-License-Identifier: BSD-3-Clause
// The time from the start of the process to the first iteration, in parts.
#pragma once

#include "report/outcome.hpp"

namespace trireme {

// Seconds since this process began, by the system's own record, which counts in hundredths of a
// second; 0 where the system keeps none.
double seconds_since_process_start();

class StartClock {
 public:
  // The time so far counts as that of libraries.
  StartClock();

  // The time since the last lap counts as `part`.
  void lap(double StartSeconds::*part);
  // Takes `seconds` from one part, which contains them, to another.
  void move(double StartSeconds::*from, double StartSeconds::*to, double seconds);
  // The first iteration of the case begins. Later calls have no effect.
  void iterations_begin();

  // The parts before the first run, and the total.
  const StartSeconds& parts() const { return parts_; }
  // With upload, build, tuning and set-up as the first run says.
  StartSeconds with_first_run(const Seconds& run) const;

 private:
  StartSeconds parts_;
  double last_ = 0;
};

}  // namespace trireme
