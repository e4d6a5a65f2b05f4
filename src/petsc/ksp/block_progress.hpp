// SPDX-License-Identifier: BSD-3-Clause
// The iterations of a block from what the observers of its columns hear.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "solvers/solver.hpp"

namespace trireme {

// Columns end an iteration together, and all that have not ended are asked whether to stop before
// the next sums are complete. The first question after an iteration therefore ends it.
class BlockProgress {
 public:
  // Is told of each iteration of the block: its number, from 0, and the state of the column that
  // has the largest norm of those that did this iteration.
  using Report = std::function<void(std::int64_t iteration, const solvers::State& worst)>;

  // Keeps at most `longest_history` norms of each of `width` columns.
  BlockProgress(std::int64_t width, std::int64_t longest_history, Report report,
                std::function<bool()> stop);
  BlockProgress(const BlockProgress&) = delete;
  BlockProgress& operator=(const BlockProgress&) = delete;

  // One observer per column, which refer to this object.
  std::span<const solvers::IterationObserver> observers() const { return observers_; }
  // Comes after the solve: reports the last iteration.
  void end();
  std::vector<double>& history(std::int64_t column) { return histories_[column]; }

 private:
  void note(std::int64_t column, const solvers::State& state);

  std::int64_t longest_history_;
  Report report_;
  std::function<bool()> stop_;
  std::vector<solvers::IterationObserver> observers_;
  std::vector<std::vector<double>> histories_;
  std::int64_t iteration_ = 0;
  bool in_iteration_ = false;  // some column has reported the iteration
  solvers::State worst_;       // of these columns
};

}  // namespace trireme
