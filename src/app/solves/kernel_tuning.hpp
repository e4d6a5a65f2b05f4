// SPDX-License-Identifier: BSD-3-Clause
// `kernel: auto` while a run solves: what the tuner decides, done.
//
//   run starts with the kernel of the rule (planning/choose.hpp) or of the cache
//      |                                        +--------------------------------------------+
//   solve ... Tuner says that a trial pays ...  | leave the loop; build, time, drop kernels;  |
//      |                                        | go on with the best in the same Krylov      |
//      +----------------------------------------| space                                       |
//                                               +--------------------------------------------+
//
// The loop of the resident engine is left and goes on as it does for a checkpoint. A loop of
// PETSc's own is not left: its matrix multiplies by another kernel from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/solves/checkpointer.hpp"
#include "base/stopwatch.hpp"
#include "cache/kernel_decision.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "kernels/registry.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/amat.hpp"
#include "planning/candidates.hpp"
#include "planning/choose.hpp"
#include "planning/tuner.hpp"
#include "report/outcome.hpp"

namespace trireme {

using FindOrder = std::function<std::shared_ptr<OrderedMatrix>(Ordering, Device)>;

class KernelTuning {
 public:
  // `kernel` is the one that `amat` has, and `traits` may be known already. All references must
  // outlive this. Collective.
  KernelTuning(const Case& c, std::shared_ptr<DistributedMatrix> matrix, KernelChoice kernel,
               Amat& amat, KspSolver& solver, std::optional<KernelDecision> earlier,
               MeasureProduct measure, FindOrder order, std::optional<MatrixTraits> traits);

  // Comes before each solve. `solves_after`: how many follow it. Where a trial pays before the
  // solve begins, it takes place here. Collective.
  void solve_begins(std::int64_t solves_after);
  // Every iteration of the solve that runs, on every rank: the norm that the method tests.
  void iteration(std::int64_t iteration, double norm, double target);
  // Takes the time of trials out of the seconds of a loop of PETSc's own, which was not left.
  void solve_ends(KspResult& result);

  // Leaves the loop for a trial where one pays.
  Interlude interlude();
  double seconds() const { return seconds_; }  // in run(), without the build of what was chosen

  const KernelChoice& kernel() const { return kernel_; }  // that multiplies
  TrialOutcome outcome() const;
  // For the cache; empty where it has the same already.
  std::optional<KernelDecision> decision() const;

 private:
  // Looks at the rows of the matrix and lists the candidates. Collective.
  void list_candidates();
  bool decision_holds() const;
  bool due();
  // The trials that pay at this point, and the change to the best kernel. Collective.
  void run();
  double products_ahead() const;
  std::int64_t products_done() const;
  SolveProgress progress() const;
  TrialOutcome without_trial() const;
  std::shared_ptr<Operator> make(const KernelChoice& choice);
  void measure_running();
  void try_option(std::size_t k);
  void change_to(std::size_t k);

  const Case& case_;
  std::shared_ptr<DistributedMatrix> matrix_;
  KernelChoice kernel_;
  Amat& amat_;
  KspSolver& solver_;
  std::optional<KernelDecision> earlier_;
  MeasureProduct measure_;
  FindOrder find_order_;
  std::map<Ordering, std::shared_ptr<OrderedMatrix>> orders_;  // that trials have made
  std::optional<MatrixTraits> traits_;
  std::optional<Tuner> tuner_;  // empty while an earlier decision holds
  std::string began_with_;
  std::string nothing_to_choose_;   // why no trial is made; empty: trials are made
  std::size_t running_ = 0;         // the option that multiplies
  std::size_t held_ = 0;            // the option of `best_`
  std::shared_ptr<Operator> best_;  // of the best option so far; null: the running one

  std::int64_t products_per_iteration_ = 1;
  std::int64_t solves_after_ = 0;
  std::int64_t iterations_of_solve_ = 0;  // of the last solve that ended
  std::int64_t iterations_ = 0;           // of all solves that ended
  double solved_seconds_ = 0;             // of all solves that ended
  double paused_ = 0;                     // seconds of run() within this solve
  Stopwatch watch_;                       // of this solve
  std::vector<double> norms_;             // of this solve
  double target_ = 0;
  std::int64_t next_look_ = 0;  // the iteration at which due() looks again
  bool solving_ = false;
  double seconds_ = 0;
  std::optional<std::int64_t> changed_at_;
  double largest_budget_ = 0;
  std::int64_t expected_ = 0;
};

}  // namespace trireme
