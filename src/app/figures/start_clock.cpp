// SPDX-License-Identifier: BSD-3-Clause
// Reads the start of the process from /proc.
#include "app/figures/start_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace trireme {
namespace {

// Field 22 of /proc/self/stat, in seconds since the machine booted. The name of the program, which
// may contain spaces, ends with the last parenthesis.
double process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double ticks = -1;
  fields >> ticks;
  return fields ? ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) : -1;
}

double since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double seconds_since_process_start() {
  const double start = process_start();
  return start < 0 ? 0 : std::max(0.0, since_boot() - start);
}

StartClock::StartClock() : last_(since_boot()) { parts_.libraries = seconds_since_process_start(); }

void StartClock::lap(double StartSeconds::*part) {
  const double now = since_boot();
  parts_.*part += now - last_;
  last_ = now;
}

void StartClock::move(double StartSeconds::*from, double StartSeconds::*to, double seconds) {
  seconds = std::min(seconds, parts_.*from);
  parts_.*from -= seconds;
  parts_.*to += seconds;
}

void StartClock::iterations_begin() {
  if (parts_.total > 0) return;
  const StartSeconds& p = parts_;
  const double in_parts = p.libraries + p.device + p.read + p.check + p.split + p.upload;
  parts_.total = in_parts + since_boot() - last_;
}

StartSeconds StartClock::with_first_run(const Seconds& run) const {
  StartSeconds all = parts_;
  const double rest =
      all.total - all.libraries - all.device - all.read - all.check - all.split - all.upload;
  // A trial may come within the solve; what it spent before the first iteration is in the rest.
  all.build = run.build;
  all.setup = run.setup;
  all.tune = std::clamp(rest - all.build - all.setup, 0.0, run.tune);
  return all;
}

}  // namespace trireme
