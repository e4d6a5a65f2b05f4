// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` of a Solver: the rule of planning/preconditioner_rule.hpp, fed with what
// its solves measure. A run begins with jacobi, or with none where the diagonal has a zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/loop.hpp"
#include "base/stopwatch.hpp"
#include "planning/preconditioner_candidates.hpp"
#include "planning/preconditioner_rule.hpp"

namespace trireme::api {

class PreconditionerSearch {
 public:
  // `loop` works with first_preconditioner(), and must outlive this.
  PreconditionerSearch(const DistributedMatrix& matrix, std::string_view method, Loop& loop);

  // Makes a change that pays for so many solves ahead, after a solve.
  void between_solves(std::int64_t solves_ahead);
  // Comes before each solve, of which so many follow, with what between_solves() does.
  void solve_begins(std::int64_t solves_after);
  // The norm that the method tests, in every iteration.
  void iteration(double norm, double target);
  // Whether the loop is to be left for a change; change() makes it then.
  bool due();
  void change();
  // The solve has ended. False: it failed by a preconditioner that was changed to, and is to be
  // repeated with the first one, to which the loop has been brought back.
  bool solve_ends(bool converged, bool failed);

  double set_up_seconds() const { return set_up_seconds_; }  // of all changes
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void observe();
  void predict();
  SolveOutlook outlook() const;
  void change_to(std::size_t option);

  Loop& loop_;
  bool on_gpu_;
  std::vector<AnyPreconditioner> candidates_;  // rule_ has one option for each of them
  PreconditionerRule rule_;
  std::int64_t solves_ = 0, solves_after_ = 0;
  bool solving_ = false, nothing_to_choose_ = false;
  std::vector<double> norms_;  // of this solve
  std::size_t took_over_ = 0;  // index of the norm at which the running option did
  double target_ = 0, decades_whole_ = 0;
  double seconds_before_ = 0;  // of this solve, by options that were left
  Stopwatch watch_;            // since the running option took over
  std::int64_t next_look_ = 0;
  std::int64_t longest_ = 0;  // iterations of a solve so far
  double set_up_seconds_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace trireme::api
