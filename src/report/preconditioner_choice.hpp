// SPDX-License-Identifier: BSD-3-Clause
// How `preconditioner: auto` came to its preconditioner, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trireme {

struct PreconditionerCandidate {
  std::string name;  // as in a case: jacobi
  bool chosen = false;
  bool measured = false;                        // it did iterations; else the figures are predicted
  std::optional<double> set_up_seconds = {};    // empty: neither measured nor predicted
  std::optional<double> iteration_us = {};      // likewise
  std::optional<double> solve_seconds = {};     // of a whole solve, without the set-up
  std::optional<std::int64_t> pays_after = {};  // solves, against the one that the run began with
  std::string verdict;  // why it lost, or why it was chosen: a sentence without a full stop
};

struct PreconditionerChoice {
  std::vector<PreconditionerCandidate> candidates;  // the chosen one first
  std::string began_with;
  std::int64_t solves = 1;  // over which the choice is to pay
  // The iteration of the first solve at which the run went over to the chosen preconditioner.
  // Empty: it began with it, or changed between two solves.
  std::optional<std::int64_t> changed_at = {};
};

}  // namespace trireme
