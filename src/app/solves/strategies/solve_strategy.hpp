// SPDX-License-Identifier: BSD-3-Clause
// A way to work through the right-hand sides of a case. What the strategies share, and what comes
// of their solves, is in SolveParts.
#pragma once

#include <cstddef>

#include "report/outcome.hpp"

namespace trireme {

class SolveStrategy {
 public:
  virtual ~SolveStrategy() = default;

  // Solves right-hand side k, or step k, and perhaps more of them, and notes what came of them.
  // False: the run ends here. Collective.
  virtual bool solve(std::size_t k) = 0;
  // Comes after the last solve. Collective.
  virtual void end() {}
  // Fills in what only this strategy knows.
  virtual void fill(RunOutcome& /*outcome*/) {}
};

}  // namespace trireme
