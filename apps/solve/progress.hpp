// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that shows how far a solve is.
#pragma once

#include <chrono>
#include <cstdio>
#include <deque>
#include <string>

#include "app/case_observer.hpp"
#include "config/case.hpp"

namespace trireme::solve {

// Rewrites its line at most five times per second: kernel, iteration, residual, rate, time left.
class TerminalProgress : public CaseObserver {
 public:
  // `terminal` must outlive this; `solver` gives the tolerance and the iteration limit.
  TerminalProgress(std::FILE* terminal, SolverSpec solver);
  ~TerminalProgress() override;

  void step_begins(std::string_view text) override;
  void run_begins(int run, std::string_view kernel) override;
  void sequence_step(std::int64_t step, std::int64_t steps) override;
  void iteration(int run, std::int64_t iteration, double relative_residual) override;
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Sample {
    Clock::time_point time;
    std::int64_t iteration;
    double residual;
  };

  void show(const std::string& line);

  std::FILE* terminal_;
  SolverSpec solver_;
  std::string kernel_;
  std::string step_;            // "step 12 of 100, "; empty: no sequence
  std::deque<Sample> samples_;  // what was shown in the last seconds
  bool shown_ = false;
};

// Seconds until `residual` reaches rtol or `iteration` reaches the limit, if both go on as they did
// between the two samples. Negative where that cannot be told.
double seconds_left(double seconds, std::int64_t first_iteration, double first_residual,
                    std::int64_t iteration, double residual, const SolverSpec& solver);

}  // namespace trireme::solve
