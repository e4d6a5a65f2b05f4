// SPDX-License-Identifier: BSD-3-Clause
// All solves of one kernel, gathered into its outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/checkpointer.hpp"
#include "app/kernel_tuning.hpp"
#include "app/run_kernel.hpp"
#include "app/true_residual.hpp"
#include "petsc/amat.hpp"
#include "petsc/ksp_solver.hpp"

namespace trireme {

class Solves {
 public:
  // All references must outlive this. `tuning`, which may be null, is told of each solve and may
  // change the kernel of `amat`. Collective, as is all().
  Solves(const SolveContext& context, const Amat& amat, KspSolver& solver,
         const IterationCallback& on_iteration, KernelTuning* tuning = nullptr);

  // Solves every right-hand side `repeat` times, or until a signal or a round that has not
  // converged. Of the outcome, fills in what the solves decide.
  KernelRun all();

 private:
  // A right-hand side as the solver works on it: scaled by powers of two.
  struct ScaledSystem;

  bool solve_until_done();  // whether a signal ended it
  void solve(std::size_t k);
  void take_over(std::size_t k);
  void note_a_stop();
  void fill(RunOutcome& o);
  void note_corrections(RunOutcome& o) const;
  TrueResidual judged(const ScaledSystem& system, Array<double>& x) const;
  double error(std::span<const double> x, std::span<const double> exact) const;

  const SolveContext& context_;
  const Amat& amat_;
  KspSolver& solver_;
  const IterationCallback& on_iteration_;
  KernelTuning* tuning_;
  VecHandle x_, b_;
  std::vector<Array<double>> solutions_;    // the latest of each right-hand side
  std::vector<double> residuals_, errors_;  // of those solutions
  std::optional<Checkpointer> checkpointer_;

  std::int64_t wanted_ = 0;                     // solves
  std::int64_t count_ = 0;                      // solves that are done, with those of earlier runs
  std::vector<double> history_, each_seconds_;  // of the last solve; of each solve
  Verdict verdict_;                             // of the first solve that failed, or of the last
  KspFacts facts_;                              // of the last solve
  int rhs_exponent_ = 0;                        // the last one that is not 0
  double seconds_ = 0;
  std::int64_t iterations_ = 0;        // of the last solve
  std::int64_t total_iterations_ = 0;  // of this run
  std::int64_t copies_ = 0;            // of vectors between host and GPU, by PETSc
};

}  // namespace trireme
