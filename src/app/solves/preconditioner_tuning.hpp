// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` while a run solves: what the rule of planning/preconditioner_rule.hpp
// decides, done.
//
//   run starts with jacobi, or with none where the diagonal has a zero
//      |                                          +------------------------------------------+
//   solve ... the rule says that a change pays ... | leave the loop; set up; go on from the  |
//      |                                          | present x in a new Krylov space          |
//      +------------------------------------------+------------------------------------------+
//
// Between two solves the change is the same without a loop to leave. The loops of PETSc are not
// left, so that a run by them keeps the preconditioner that it began with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/solves/checkpointer.hpp"
#include "base/stopwatch.hpp"
#include "distributed/distributed_matrix.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/amat.hpp"
#include "planning/preconditioner_rule.hpp"
#include "report/preconditioner_choice.hpp"

namespace trireme {

// Replaces what PreconditionerTuning measures: seconds of an iteration, and of a product.
struct PreconditionerClock {
  std::function<double(const AnyPreconditioner&)> iteration_seconds = {};  // null: measure
  std::function<double()> product_seconds = {};                            // likewise
};

class PreconditionerTuning {
 public:
  // `solver` works with first_preconditioner() of preconditioner_candidates.hpp. All references
  // must outlive this. Collective.
  PreconditionerTuning(const DistributedMatrix& matrix, Amat& amat, KspSolver& solver,
                       PreconditionerClock clock = {});

  // Comes before each solve. `solves_after`: how many follow it. Where a change pays before the
  // solve begins, it takes place here. Collective.
  void solve_begins(std::int64_t solves_after);
  // Every iteration of the solve that runs, on every rank: the norm that the method tests.
  void iteration(double norm, double target);
  // Says that the loop was left for something else, and for how long.
  void paused(double seconds) { paused_ += seconds; }
  void solve_ends(const KspResult& result);
  // The same for the columns of a block, which takes `seconds` as a whole. Its iterations are no
  // calls of iteration().
  void block_ends(std::span<const KspResult> results, double seconds);
  // Whether a solve that has failed by a preconditioner that was changed to is to be repeated with
  // the first one, to which the solver has then changed. `results` are those of all columns.
  // Collective.
  bool falls_back(std::span<const KspResult> results);
  // The matrix has new values. Where the preconditioner is still that of the old ones, it takes the
  // new ones before it is left for another.
  void values_changed(bool preconditioner_has_them);

  // Leaves the loop for a change where one pays.
  Interlude interlude();

  const AnyPreconditioner& running() const { return candidates_[rule_.running()]; }
  // The preconditioners that were set up or tried, and left.
  std::vector<AnyPreconditioner> left() const;
  // Whether solves for several right-hand sides at once may begin: the first solve is one by
  // itself, in which the candidates show what they are.
  bool lets_blocks_begin() const { return solves_ > 0 || !nothing_to_choose_.empty(); }
  // A change since the last call: its seconds, and whether the same preconditioner took new values.
  struct Change {
    double seconds = 0;
    bool renewal = false;
  };
  std::optional<Change> take_change() { return std::exchange(change_, std::nullopt); }
  // Collective; the same on every rank.
  PreconditionerChoice outcome() const;

 private:
  // What does not depend on measurements: the candidates, in candidates_ too. Collective.
  std::vector<PreconditionerOption> options(const DistributedMatrix& matrix);
  void predict();
  void observe();
  bool due();
  // Changes where the rule says so. True: the solver has another preconditioner, or the same one
  // anew. Collective.
  bool run();
  void change_to(std::size_t option);
  SolveOutlook outlook() const;
  double iteration_seconds(double measured) const;

  MPI_Comm comm_;
  Amat& amat_;
  KspSolver& solver_;
  PreconditionerClock clock_;
  std::vector<AnyPreconditioner> candidates_;  // rule_ has one option for each of them
  PreconditionerRule rule_;
  std::string began_with_;
  std::string nothing_to_choose_;  // why no change is made; empty: changes are made

  std::int64_t solves_after_ = 0;
  std::int64_t most_solves_ = 1;  // ahead at the first solve, with it
  std::int64_t solves_ = 0;       // that have ended
  bool solving_ = false;
  std::vector<double> norms_;  // of this solve
  std::size_t took_over_ = 0;  // index of the norm at which the running option did, in this solve
  double target_ = 0;
  double decades_whole_ = 0;   // of the last solve that was observed
  Stopwatch watch_;            // since the running option took over in this solve
  double paused_ = 0;          // seconds of other work since then
  double seconds_before_ = 0;  // of this solve, by options that were left
  std::int64_t next_look_ = 0;
  std::optional<std::int64_t> changed_at_;
  std::optional<Change> change_;
  bool found_ = false;  // the cache has what a set-up makes for these values
  bool stale_ = false;  // the running preconditioner has older values than the matrix
};

}  // namespace trireme
