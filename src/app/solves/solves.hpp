// SPDX-License-Identifier: BSD-3-Clause
// All solves of one kernel, gathered into its outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run_kernel.hpp"
#include "app/solves/advice.hpp"
#include "app/solves/block_width.hpp"
#include "app/solves/checkpointer.hpp"
#include "app/solves/kernel_tuning.hpp"
#include "app/solves/plan.hpp"
#include "app/solves/preconditioner_tuning.hpp"
#include "app/solves/renewal.hpp"
#include "app/solves/solve_records.hpp"
#include "app/solves/step_overlap.hpp"
#include "app/solves/true_residual.hpp"
#include "app/system/system_scale.hpp"
#include "base/stopwatch.hpp"

namespace trireme {

class Solves {
 public:
  // All references must outlive this. Where a step of a sequence needs another plan, `plan` is
  // replaced by what make_plan() returns. `tuning` and `preconditioning`, which may be null, are
  // told of each solve and may change the kernel and the preconditioner of the plan, until the plan
  // is replaced. Collective, as is all().
  Solves(const SolveContext& context, Plan& plan, std::function<Plan()> make_plan,
         const IterationCallback& on_iteration, KernelTuning* tuning = nullptr,
         PreconditionerTuning* preconditioning = nullptr);

  // Solves every right-hand side `repeat` times, or each step of a sequence once, until a signal or
  // a round or a step that has not converged. An error in the data of a step after the first one
  // ends the run with the solutions so far, and is the outcome's reason. Of the outcome, fills in
  // what the solves decide.
  KernelRun all();

 private:
  // A right-hand side of a block takes about half of the time of a solve by itself.
  static constexpr std::int64_t kColumnsPerSolve = 2;

  // A right-hand side as the solver works on it: scaled by powers of two.
  struct ScaledSystem {
    ScaledSystem(const Solves& solves, std::size_t k, std::span<const double> x);
    void measure(const Solves& solves, bool nonzero_guess);  // first_norm and unit

    int exponent;  // b is the caller's times 2^-exponent
    int of_x;      // the caller's x is the solver's times 2^of_x
    Scaled b, x0;
    double rhs_norm;
    double first_norm = 0;  // of the residual of the initial guess
    double unit = 0;        // what relative norms are relative to
  };
  // Where a solve begins, in the caller's scale.
  struct FirstGuess {
    std::string name = "zero";  // or previous, extrapolate, x0
    std::span<const double> x = {};
    bool nonzero = false;
    Array<double> made = {};  // the memory of x, where nobody else has it
  };

  bool solve_until_done();         // whether a signal ended it
  bool go_to_step(std::size_t k);  // false: its data, or the step before, are at fault
  void bring_values(std::size_t k, StepOutcome& step);
  void give_up_plan();
  void rebuild();
  void end_step(std::size_t k);
  void make_vectors();
  const Array<double>& rhs(std::size_t k) const;
  int matrix_exponent() const;
  // In solves_from_guesses.cpp. A guess whose residual is larger than that of 0 is not used.
  FirstGuess guess(std::size_t k) const;
  // Makes the system of right-hand side k from a guess, which becomes 0 where it is worse.
  // `by_solver`: the solver sees to it, and the norm of the first residual is not known yet.
  void make_system(std::optional<ScaledSystem>& system, std::size_t k, FirstGuess& first,
                   bool by_solver);
  void solve(std::size_t k);
  // One solve from b_ and x_, or from the vectors on the device that the solver was given.
  // The caller's x is the solver's times 2^of_x.
  KspResult run_solver(std::size_t k, int of_x, bool nonzero_guess, double unit, double target);
  // What is done between two iterations.
  Interlude interlude() const;
  // In solves_overlapped.cpp: the steps of a sequence on one GPU, see step_overlap.hpp. The verdict
  // on a step that seems to have converged is pending while the next step is solved.
  struct Pending {
    std::size_t k;
    Verdict verdict;
    TrueResidual residual;  // but for its norm
  };
  bool can_overlap() const;
  void begin_overlap();  // at step 0
  // Continues or ends the overlap at the present step k, whose values are in place.
  void overlap_step(std::size_t k);
  void solve_overlapped(std::size_t k);
  void settle(const Residual& residual);  // decides on pending_
  // Decides on pending_ where no other thread does, and leaves its x in solutions_.
  void settle_now();
  void end_overlap(std::size_t k);  // before the solve of step k, which is solved without it
  // In solves_of_blocks.cpp: several right-hand sides at once.
  std::size_t columns_at_once(std::size_t k);
  void solve_block(std::size_t first, std::size_t count);
  // What solve() and solve_block() note of a right-hand side: x is in the scale of `system`.
  void note(std::size_t k, const ScaledSystem& system, KspResult result, Array<double> x);
  // The part of note() that needs no x.
  void record(std::size_t k, KspResult&& result, double relative_residual, double unit);
  // Adds to the verdict of a solve that has failed why it has, or what to try.
  void explain(KspResult& result, const ScaledSystem& system, const TrueResidual& residual);
  bool take_over(std::size_t k);  // false: it is to be solved
  void note_a_stop();
  void fill(RunOutcome& o);
  void note_steps(RunOutcome& o) const;
  double setup_seconds() const;
  double seconds_of_building() const;
  bool has_structure() const;
  std::int64_t solves_ahead() const;
  TrueResidual judged(const ScaledSystem& system, Array<double>& x) const;
  double error(std::span<const double> x, std::span<const double> exact) const;

  const SolveContext& context_;
  Plan& plan_;
  std::function<Plan()> make_plan_;
  const IterationCallback& on_iteration_;
  KernelTuning* tuning_;
  PreconditionerTuning* preconditioning_;
  Array<double> values_of_x_, values_of_b_;  // of the vectors
  VecHandle x_, b_;
  std::vector<Array<double>> solutions_;  // the latest of each right-hand side
  SolveRecords records_;
  BlockWidth block_width_;
  std::int64_t widest_block_ = 0;                           // that was solved; 0: none
  std::optional<MatrixTraitsForAdvice> traits_for_advice_;  // of the present matrix
  std::optional<Checkpointer> checkpointer_;

  std::int64_t wanted_ = 0;             // solves
  std::int64_t count_ = 0;              // solves that are done, with those of earlier runs
  std::optional<StepOverlap> overlap_;  // of a sequence on one GPU
  std::optional<Pending> pending_;      // likewise
  bool unconfirmed_ = false;            // pending_ was, and the steps after it are dropped
  std::optional<Renewal> renewal_;      // of a sequence
  std::vector<StepOutcome> steps_;      // likewise
  Stopwatch step_watch_;                // since the last step began
  double read_seconds_ = 0;             // of all steps
  Seconds of_former_plans_;             // build, upload, setup
  std::int64_t copies_ = 0;             // of vectors between host and GPU, by PETSc
};

}  // namespace trireme
