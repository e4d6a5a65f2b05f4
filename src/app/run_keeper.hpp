// SPDX-License-Identifier: BSD-3-Clause
// Solves of a run whose state is kept, so that a later run goes on where this one ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/saved_run.hpp"
#include "petsc/ksp_solver.hpp"

namespace trireme {

// How the state of a run is kept. None where kernels are compared: it would be of one of them.
struct Keeping {
  SavedRunFile file;
  RunIdentity identity;
  RowRange rows;
  double interval = 0;  // seconds between two checkpoints at least; 0: none while a solve runs
  bool resume = false;  // begin from the file
};

class RunKeeper {
 public:
  // `x`: where the caller keeps the solutions of the right-hand sides; with `keeping->resume` those
  // of the file are put there. Without `keeping` it only solves. Collective, as are the others.
  RunKeeper(MPI_Comm comm, std::optional<Keeping> keeping, Engine engine,
            std::vector<Array<double>>& x);

  std::int64_t solves_before() const { return run_.solves_before; }
  // Right-hand side k has been solved by the run before, in this round of `repeat`.
  bool is_solved(std::size_t k) const { return k < run_.solves.size() && run_.solves[k].converged; }
  // The iterations of an earlier run that its solve will go on from.
  std::int64_t iterations_before(std::size_t k) const;

  struct Solve {
    std::size_t k = 0;  // the right-hand side
    bool nonzero_guess = false;
    double unit = 1;  // what history and tolerance are relative to, as the solver has it
    std::function<Array<double>(Vec)> solution;            // the caller's, of the solver's
    std::function<void(const Array<double>&, Vec)> guess;  // the other way
  };
  // As PetscSolver::solve(), from where the run before was, with checkpoints meanwhile. The history
  // and the iterations are those of all runs, the seconds of this one.
  KspResult solve(PetscSolver& solver, Vec b, Vec x, const Solve& what);
  // What came of it in the end; `x` holds the solution.
  void solved(std::size_t k, const KspResult& result);
  void begin_round(std::int64_t solves_before);
  // Writes the state if a run can go on from it, and removes it once the run has converged.
  // stopped: by a signal, which may have come between two solves.
  void end(bool converged, bool stopped);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool due() const;
  void wait(double seconds);
  void spend(double seconds);
  bool goes_on_after_checkpoints(const PetscSolver& solver) const;
  bool write();  // false: it could not be, which is noted
  SavedSolve& entry(std::size_t k);

  MPI_Comm comm_;
  std::optional<Keeping> keeping_;
  std::vector<Array<double>>& x_;
  SavedRun run_;
  Clock::time_point next_ = Clock::time_point::max();  // rank 0's clock decides
  Clock::time_point begun_{};
  std::vector<std::string> notes_;
  std::int64_t checkpoints_ = 0;
  double spent_ = 0;  // seconds, on them
  double max_ = 0;    // on one
  bool can_go_on_ = false;
};

}  // namespace trireme
