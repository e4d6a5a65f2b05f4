// SPDX-License-Identifier: BSD-3-Clause
// How `method: auto` came to its method, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"

namespace trireme {

// A method with its preconditioner that a run has tried, or has passed over.
struct RungOutcome {
  std::string method, preconditioner;  // as in a case
  Scaling scaling = Scaling::none;
  std::string why;                            // it came next: a clause
  bool ran = false;                           // false: it was passed over, and `verdict` says why
  bool solved = false;                        // every system that was asked for
  std::int64_t iterations = 0;                // of its last solve
  std::optional<double> relative_residual{};  // true: ||b - A x|| / ||b||; empty: not known
  double seconds = 0;                         // with all that was set up for it
  std::string verdict;                        // how it ended, in words
};

struct LadderOutcome {
  std::string seen;                // of the matrix: "symmetric, with a positive diagonal"
  double look_seconds = 0;         // that this took
  std::vector<RungOutcome> rungs;  // in the order in which they were tried
  std::string began_at{};          // why not with the first one; empty: it did
};

}  // namespace trireme
