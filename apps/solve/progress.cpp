// SPDX-License-Identifier: BSD-3-Clause
// The time left comes from the slope of log(residual) over the last ten seconds.
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/printable.hpp"
#include "report/words.hpp"

namespace trireme::solve {
namespace {

constexpr std::chrono::milliseconds kInterval(200);
constexpr std::size_t kSamples = 50;

}  // namespace

Progress::Progress(std::FILE* stream, SolverSpec solver)
    : stream_(stream), solver_(std::move(solver)) {}

void Progress::step_begins(std::string_view text) { show_step(fmt::format("{} ...", text)); }

void Progress::run_begins(int, std::string_view kernel) {
  kernel_ = kernel;
  step_.clear();
  samples_.clear();
}

void Progress::sequence_step(std::int64_t step, std::int64_t steps) {
  step_ = fmt::format("step {} of {}, ", step + 1, steps);
}

void Progress::iteration(int, std::int64_t iteration, double residual) {
  const auto now = Clock::now();
  if (iteration == 0) samples_.clear();  // another solve begins
  if (!samples_.empty() && now - samples_.back().time < kInterval) return;
  samples_.push_back({now, iteration, residual});
  if (samples_.size() > kSamples) samples_.pop_front();

  const Sample& first = samples_.front();
  const double seconds = std::chrono::duration<double>(now - first.time).count();
  std::string line =
      fmt::format("{}: {}iteration {}, residual {:.1e}", kernel_, step_, iteration, residual);
  if (seconds > 0 && iteration > first.iteration) {
    line += fmt::format(", {:.0f} iterations/s",
                        static_cast<double>(iteration - first.iteration) / seconds);
    const double left =
        seconds_left(seconds, first.iteration, first.residual, iteration, residual, solver_);
    if (left >= 0) line += fmt::format(", about {} left", words::seconds(left));
  }
  show_iteration(line);
}

TerminalProgress::~TerminalProgress() { clear(); }

void TerminalProgress::clear() {
  if (shown_) std::fputs("\r\033[K", stream());
  std::fflush(stream());
  shown_ = false;
}

void TerminalProgress::show(const std::string& line) {
  fmt::print(stream(), "\r{}\033[K", printable_line(line));
  std::fflush(stream());
  shown_ = true;
}

PlainProgress::PlainProgress(std::FILE* stream, SolverSpec solver, std::chrono::milliseconds quiet,
                             std::chrono::milliseconds interval)
    : Progress(stream, std::move(solver)),
      begin_(Clock::now() + quiet),
      next_(begin_),
      interval_(interval) {}

void PlainProgress::show_step(const std::string& line) {
  if (Clock::now() >= begin_) show(line);
}

void PlainProgress::show_iteration(const std::string& line) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + interval_;
  show(line);
}

void PlainProgress::show(const std::string& line) {
  print_text(stream(), line + "\n");
  std::fflush(stream());
}

double seconds_left(double seconds, std::int64_t first_iteration, double first_residual,
                    std::int64_t iteration, double residual, const SolverSpec& solver) {
  if (iteration <= first_iteration || !(residual > 0) || !(first_residual > 0)) return -1;
  const double seconds_each = seconds / static_cast<double>(iteration - first_iteration);
  const double to_limit = seconds_each * static_cast<double>(std::max<std::int64_t>(
                                             0, solver.max_iterations - iteration));
  const double fallen = std::log(first_residual / residual);
  if (!(fallen > 0) || !(solver.rtol > 0)) return to_limit;
  const double to_rtol = seconds * std::max(0.0, std::log(residual / solver.rtol)) / fallen;
  return std::min(to_limit, to_rtol);
}

}  // namespace trireme::solve
