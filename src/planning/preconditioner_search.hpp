// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` while solves run: the rule of preconditioner_rule.hpp, fed with what the
// solves measure, and the changes that it decides.
//
//   the solves begin with jacobi, or with none where the diagonal has a zero
//      |                                          +------------------------------------------+
//   solve ... the rule says that a change pays ... | leave the loop; set up; go on from the  |
//      |                                          | present x in a new Krylov space          |
//      +------------------------------------------+------------------------------------------+
//
// Between two solves the change is the same without a loop to leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "planning/preconditioner_candidates.hpp"
#include "planning/preconditioner_rule.hpp"

namespace trireme {

// A solver whose preconditioner a search changes. An error is the same on every rank.
class ChangeableSolver {
 public:
  virtual ~ChangeableSolver() = default;
  // Sets a preconditioner up, which may be the present one, and returns the seconds that this took.
  // Throws Error where it cannot; it is then called for another one.
  virtual double change_preconditioner(const AnyPreconditioner& preconditioner) = 0;
  virtual double product_seconds() const = 0;  // with the matrix; 0: unknown
  virtual bool on_gpu() const = 0;             // the products are
  // Seconds of an iteration with the present preconditioner, from those that were measured.
  virtual double iteration_seconds(double measured) const { return measured; }
  // Whether the present preconditioner has older values than the matrix.
  virtual bool is_stale() const { return false; }
  // Whether the cache has what a set-up makes.
  virtual bool finds_set_up() const { return false; }
  // The option that is taken where the rule says `next`; the running option stands for a set-up of
  // it anew. Every rank of the solver must get the same answer.
  virtual std::optional<std::size_t> decide(std::optional<std::size_t> next) const { return next; }
};

struct PreconditionerChange {
  std::size_t option = 0;
  double seconds = 0;          // of the set-up
  bool renewal = false;        // the option had been running, and was set up anew
  std::int64_t iteration = 0;  // of the solve that runs
  std::string failure{};       // why the option is not possible; empty: the solver has it
};

class PreconditionerSearch {
 public:
  struct Settings {
    bool makes_changes = true;
    // The rule limits the rest of a solve to a multiple of its past. True: the past of a solve is
    // at least as long as the longest solve so far.
    bool counts_longest = false;
  };

  // `solver` works with the first candidate, and must outlive this.
  PreconditionerSearch(PreconditionerCandidates candidates, ChangeableSolver& solver,
                       Settings settings);

  // A function that returns a change has made it because it pays. Where it has failed, the running
  // preconditioner was set up anew.

  // After a solve, with so many solves ahead.
  std::optional<PreconditionerChange> between_solves(std::int64_t solves_ahead);
  // Comes before each solve, of which so many follow, with what between_solves() does.
  std::optional<PreconditionerChange> solve_begins(std::int64_t solves_after);
  // The norm that the method tests, in every iteration.
  void iteration(double norm, double target);
  // Says that the loop was left for something else, and for how long.
  void paused(double seconds) { paused_ += seconds; }
  // Whether the loop is to be left for a change; change() makes it then.
  bool due();
  std::optional<PreconditionerChange> change();
  // `seconds` are those of the solve; empty: they are measured here.
  void solve_ends(bool converged, std::optional<double> seconds = std::nullopt);
  // The same for a solve without calls of iteration(); 0 iterations: it says nothing.
  void unseen_solve_ends(std::int64_t iterations, double seconds);
  // The solve has failed with an option that was changed to, and is repeated with the first one.
  PreconditionerChange fall_back(std::string why);

  const PreconditionerRule& rule() const { return rule_; }
  // One per option of the rule.
  std::span<const AnyPreconditioner> candidates() const { return candidates_; }
  const AnyPreconditioner& running() const { return candidates_[rule_.running()]; }
  std::int64_t solves() const { return solves_; }          // that have ended
  double decades_whole() const { return decades_whole_; }  // of the last solve that was observed

 private:
  std::int64_t iterations() const;  // of the running option in this solve
  double seconds() const { return watch_.seconds() - paused_; }
  // Of so many iterations, which took `measured` seconds.
  double seconds_of(std::int64_t iterations, double measured) const;
  SolveOutlook outlook() const;
  void forget_solve();
  void restart_watch();
  void predict();
  void observe();
  void solved(std::int64_t iterations, double seconds);
  PreconditionerChange take(std::size_t option);

  std::vector<AnyPreconditioner> candidates_;
  PreconditionerRule rule_;
  ChangeableSolver& solver_;
  Settings settings_;

  std::int64_t solves_ = 0, solves_after_ = 0;
  std::int64_t longest_ = 0;  // iterations of a solve so far, where they count
  bool solving_ = false;
  std::vector<double> norms_;  // of this solve
  std::size_t took_over_ = 0;  // index of the norm at which the running option did, in this solve
  double target_ = 0;
  double decades_whole_ = 0;
  Stopwatch watch_;            // since the running option took over in this solve
  double paused_ = 0;          // seconds of other work since then
  double seconds_before_ = 0;  // of this solve, by options that were left
  std::int64_t next_look_ = 0;
};

}  // namespace trireme
