// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` of a run: the search of planning/preconditioner_search.hpp in a KspSolver.
// The ranks agree, and a preconditioner of older values takes the new ones before it is left. The
// loops of PETSc are not left, so that a run by them keeps the preconditioner that it began with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/solves/checkpointer.hpp"
#include "distributed/distributed_matrix.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/amat.hpp"
#include "planning/preconditioner_search.hpp"
#include "report/preconditioner_choice.hpp"

namespace trireme {

// Replaces what PreconditionerTuning measures: seconds of an iteration, and of a product.
struct PreconditionerClock {
  std::function<double(const AnyPreconditioner&)> iteration_seconds = {};  // null: measure
  std::function<double()> product_seconds = {};                            // likewise
};

class PreconditionerTuning final : private ChangeableSolver {
 public:
  // `solver` works with first_preconditioner() of preconditioner_candidates.hpp. All references
  // must outlive this. Collective.
  PreconditionerTuning(const DistributedMatrix& matrix, Amat& amat, KspSolver& solver,
                       PreconditionerClock clock = {});
  PreconditionerTuning(const PreconditionerTuning&) = delete;
  PreconditionerTuning& operator=(const PreconditionerTuning&) = delete;

  // Comes before each solve. `solves_after`: how many follow it. Where a change pays before the
  // solve begins, it takes place here. Collective.
  void solve_begins(std::int64_t solves_after);
  // Every iteration of the solve that runs, on every rank: the norm that the method tests.
  void iteration(double norm, double target) { search_.iteration(norm, target); }
  // Says that the loop was left for something else, and for how long.
  void paused(double seconds) { search_.paused(seconds); }
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

  const AnyPreconditioner& running() const { return search_.running(); }
  // The preconditioners that were set up or tried, and left.
  std::vector<AnyPreconditioner> left() const;
  // Whether solves for several right-hand sides at once may begin: the first solve is one by
  // itself, in which the candidates show what they are.
  bool lets_blocks_begin() const { return search_.solves() > 0 || !nothing_to_choose_.empty(); }
  // The last change since the last call.
  std::optional<PreconditionerChange> take_change() { return std::exchange(change_, std::nullopt); }
  // Collective; the same on every rank.
  PreconditionerChoice outcome() const;

 private:
  double change_preconditioner(const AnyPreconditioner& preconditioner) override;
  double product_seconds() const override;
  double iteration_seconds(double measured) const override;
  bool on_gpu() const override { return amat_.on_gpu(); }
  bool is_stale() const override { return stale_; }
  bool finds_set_up() const override { return found_; }
  // What rank 0 says, or a renewal in its place. Collective.
  std::optional<std::size_t> decide(std::optional<std::size_t> next) const override;

  // Whether there was a change.
  bool note(const std::optional<PreconditionerChange>& change);

  MPI_Comm comm_;
  Amat& amat_;
  KspSolver& solver_;
  PreconditionerClock clock_;
  std::string began_with_;
  std::string nothing_to_choose_;  // why no change is made; empty: changes are made
  PreconditionerSearch search_;

  std::int64_t most_solves_ = 1;  // ahead at the first solve, with it
  std::optional<std::int64_t> changed_at_;
  std::optional<PreconditionerChange> change_;
  bool found_ = false;  // the cache has what a set-up makes for these values
  bool stale_ = false;  // the running preconditioner has older values than the matrix
};

}  // namespace trireme
