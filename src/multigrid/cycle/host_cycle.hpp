// SPDX-License-Identifier: BSD-3-Clause
// Runs the algorithm of a cycle on the levels of the host.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "multigrid/cycle/level_executor.hpp"
#include "multigrid/level.hpp"

namespace trireme::multigrid {

class HostCycle {
 public:
  // A transposed cycle is that of the transposed matrices, which is M^-T where the cycle is M^-1:
  // before and after a coarser level, the same polynomial smooths. Collective where it is
  // transposed.
  explicit HostCycle(std::span<const std::unique_ptr<Level>> levels, bool transposed = false);

  int levels() const { return static_cast<int>(levels_.size()); }
  const CycleLevel& level(int l) const { return levels_[l]->in_cycle; }
  LevelExecutor on(int l) const {
    return LevelExecutor(*levels_[l]->op, transposed_ ? levels_[l]->transposed.get() : nullptr);
  }
  // Collective where level l lies on several ranks.
  void restrict_from(int l, const double* r) const;
  void correct(int l) const;
  void solve(int l) const;

 private:
  std::span<const std::unique_ptr<Level>> levels_;
  bool transposed_;
};

}  // namespace trireme::multigrid
