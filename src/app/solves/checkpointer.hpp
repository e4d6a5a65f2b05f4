// SPDX-License-Identifier: BSD-3-Clause
// Solves of a run whose state is kept, so that a later run goes on where this one ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/kept/saved_run.hpp"
#include "app/solves/interlude.hpp"
#include "distributed/redistribution.hpp"
#include "petsc/ksp/ksp_solver.hpp"

namespace trireme {

// How the state of a run is kept. A case that compares kernels has none, since the state would be
// that of one of them.
struct CheckpointSettings {
  SavedRunFile file;
  RunIdentity identity;
  RowRange rows;
  double interval = 0;  // minimum seconds between two checkpoints; 0: none while a solve runs
  bool resume = false;  // begin from the file
  // To the order of the file, in which the state is kept; null: the rows have that order.
  std::shared_ptr<const Redistribution> moved = {};
};

class Checkpointer {
 public:
  // `x`: where the caller keeps the solutions of the right-hand sides. With `settings->resume` the
  // solutions of the file are put there. Without `settings` this only solves. Collective, as are
  // the member functions that solve, write or remove.
  Checkpointer(MPI_Comm comm, std::optional<CheckpointSettings> settings, Engine engine,
               std::vector<Array<double>>& x);

  std::int64_t solves_before() const { return run_.solves_before; }
  // Whether an earlier run has solved right-hand side k in this round of `repeat`.
  bool is_solved(std::size_t k) const { return k < run_.solves.size() && run_.solves[k].converged; }
  // The iterations of an earlier run from which the solve of right-hand side k will go on.
  std::int64_t iterations_before(std::size_t k) const;

  struct Solve {
    std::size_t k = 0;  // the right-hand side
    bool nonzero_guess = false;
    double unit = 1;  // the norm that history and tolerance are relative to, in the solver's scale
    std::function<Array<double>(Vec)> solution;            // from the solver's vector
    std::function<void(const Array<double>&, Vec)> guess;  // to the solver's vector
    Interlude interlude = {};
  };
  // KspSolver::solve() from where the earlier run ended, with checkpoints meanwhile. History and
  // iterations of the result are those of all runs; its seconds are those of this run.
  KspResult solve(KspSolver& solver, Vec b, Vec x, const Solve& what);
  // What a solve outside of this object leaves: `norms` and the reference are in units of `unit`.
  void remember(std::size_t k, solvers::StoppedSolve stopped, const std::vector<double>& norms,
                double unit);
  // Forgets what the last solve of right-hand side k has left, so that the next one begins anew.
  void forget(std::size_t k) { entry(k) = {}; }
  // The final result of right-hand side k; `x` of the constructor holds the solution.
  void solved(std::size_t k, const KspResult& result);
  void begin_round(std::int64_t solves_before);
  // Writes the state where a later run can go on from it, and removes it where the run has
  // converged. stopped: by a signal, which may have come between two solves.
  void end(bool converged, bool stopped);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool due() const;
  void wait(double seconds);
  void spend(double seconds);
  bool keeps_checkpoints() const { return settings_ && settings_->interval > 0; }
  bool write();  // false: the state could not be written, which is noted
  void write_in_order() const;
  SavedSolve& entry(std::size_t k);

  MPI_Comm comm_;
  std::optional<CheckpointSettings> settings_;
  std::vector<Array<double>>& x_;
  SavedRun run_;
  Clock::time_point next_ = Clock::time_point::max();  // rank 0's clock decides
  Clock::time_point begun_{};
  std::vector<std::string> notes_;
  std::int64_t checkpoints_ = 0;
  double spent_ = 0;  // seconds, on all checkpoints
  double max_ = 0;    // seconds, on one checkpoint
  bool can_go_on_ = false;
};

}  // namespace trireme
