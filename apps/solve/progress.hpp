// SPDX-License-Identifier: BSD-3-Clause
// How far a solve is, in one line that is rewritten on a terminal, or in lines of a log.
#pragma once

#include <chrono>
#include <cstdio>
#include <deque>
#include <string>

#include "app/case_observer.hpp"
#include "config/case.hpp"

namespace trireme::solve {

// Puts kernel, iteration, residual, rate and time left into words, at most five times per second.
class Progress : public CaseObserver {
 public:
  // `stream` must outlive this; `solver` gives the tolerance and the iteration limit.
  Progress(std::FILE* stream, SolverSpec solver);

  void step_begins(std::string_view text) override;
  void run_begins(int run, std::string_view kernel) override;
  void sequence_step(std::int64_t step, std::int64_t steps) override;
  void iteration(int run, std::int64_t iteration, double relative_residual) override;

 protected:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream() const { return stream_; }

 private:
  struct Sample {
    Clock::time_point time;
    std::int64_t iteration;
    double residual;
  };

  virtual void show_step(const std::string& line) = 0;
  virtual void show_iteration(const std::string& line) = 0;

  std::FILE* stream_;
  SolverSpec solver_;
  std::string kernel_;
  std::string step_;            // "step 12 of 100, "; empty: no sequence
  std::deque<Sample> samples_;  // of the last seconds
};

// Rewrites its line.
class TerminalProgress : public Progress {
 public:
  using Progress::Progress;
  ~TerminalProgress() override;
  void clear();

 private:
  void show_step(const std::string& line) override { show(line); }
  void show_iteration(const std::string& line) override { show(line); }
  void show(const std::string& line);

  bool shown_ = false;
};

// Writes lines, none before `quiet` has passed, and those of iterations once per `interval`.
class PlainProgress : public Progress {
 public:
  PlainProgress(std::FILE* stream, SolverSpec solver, std::chrono::milliseconds quiet,
                std::chrono::milliseconds interval);

 private:
  void show_step(const std::string& line) override;
  void show_iteration(const std::string& line) override;
  void show(const std::string& line);

  Clock::time_point begin_;  // of the first line
  Clock::time_point next_;   // of the next line of an iteration
  std::chrono::milliseconds interval_;
};

// Seconds until `residual` reaches rtol or `iteration` reaches the limit, if both go on as they did
// between the two samples. Negative where that cannot be told.
double seconds_left(double seconds, std::int64_t first_iteration, double first_residual,
                    std::int64_t iteration, double residual, const SolverSpec& solver);

}  // namespace trireme::solve
