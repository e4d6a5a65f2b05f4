// SPDX-License-Identifier: BSD-3-Clause
// The columns' reports, gathered into those of the block.
#include "petsc/ksp/block_progress.hpp"

#include <cmath>
#include <utility>

namespace trireme {

BlockProgress::BlockProgress(std::int64_t width, std::int64_t longest_history, Report report,
                             std::function<bool()> stop)
    : longest_history_(longest_history),
      report_(std::move(report)),
      stop_(std::move(stop)),
      observers_(static_cast<std::size_t>(width)),
      histories_(static_cast<std::size_t>(width)) {
  for (std::int64_t j = 0; j < width; ++j) {
    observers_[j].iteration = [this, j](const solvers::State& state, const solvers::Iterate&) {
      note(j, state);
      return solvers::Reason::running;
    };
    observers_[j].stop = [this] {
      end();
      return stop_ && stop_();
    };
  }
}

void BlockProgress::note(std::int64_t column, const solvers::State& state) {
  if (std::ssize(histories_[column]) < longest_history_) histories_[column].push_back(state.norm);
  if (!in_iteration_ || std::isnan(worst_.norm) || state.norm > worst_.norm) worst_ = state;
  in_iteration_ = true;
}

void BlockProgress::end() {
  if (!in_iteration_) return;
  in_iteration_ = false;
  report_(iteration_++, worst_);
}

}  // namespace trireme
