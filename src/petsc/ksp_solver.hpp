// SPDX-License-Identifier: BSD-3-Clause
// A KSP set up from a SolverSpec, and its solves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "petsc/assembled_mat.hpp"
#include "petsc/ksp_types.hpp"
#include "petsc/reasons.hpp"
#include "petsc/shim.hpp"

namespace trireme {

struct KspResult {
  Verdict verdict;
  std::int64_t iterations = 0;
  bool can_go_on = false;         // it was stopped, or came to the iteration limit
  double seconds = 0;             // of KSPSolve, the slowest rank
  KspFacts facts;                 // of PETSc's own loops only `stopped`
  std::vector<double> residuals;  // the norm that the method tests, from iteration 0
};

// Order: PETSc's options (after `--`, under `petsc:`) win over the SolverSpec.
class KspSolver {
 public:
  // Called on every rank at every iteration with the norm that the method tests.
  using Monitor = std::function<void(std::int64_t iteration, double norm)>;

  // Amat is `amat`; where the preconditioner needs entries, Pmat is `assembled`, or an AIJ made of
  // `matrix` when that is null. Throws Error{usage} for names that PETSc does not know and for
  // combinations that it does not support, Error{input} for a matrix that the preconditioner cannot
  // take: with jacobi or sor, a zero on the diagonal. Collective.
  KspSolver(const SolverSpec& spec, Mat amat, Mat assembled,
            const std::shared_ptr<const DistributedMatrix>& matrix);

  // The solves that follow are of right-hand sides times 2^-exponent: so is atol.
  void scale_tolerance(int exponent);

  // x holds the initial guess where nonzero_guess, and the solution afterwards. What an
  // InterruptGuard notes on any rank ends it with the solution so far. Collective.
  KspResult solve(Vec b, Vec x, bool nonzero_guess);

  // Of the last solve, where it can go on. PETSc's own loops leave x alone: no directions.
  solvers::StoppedSolve stopped() const;
  // The next solve, which is given that x as its guess, goes on from there: its iterations are
  // counted on.
  void go_on(const solvers::StoppedSolve& stopped);

  // When `due` is true on rank 0, a solve of the resident engine ends as if a signal had come, and
  // stopped() is to be kept. PETSc's own loops go on, once `keep` has had their iteration and x.
  struct Checkpoints {
    std::function<bool()> due;
    std::function<void(std::int64_t iteration, Vec x)> keep;  // collective
  };
  void keep_checkpoints(Checkpoints checkpoints) { checkpoints_ = std::move(checkpoints); }

  // Mixed precision corrects residuals where a residual norm is tested. Throws Error{usage} where
  // an option says otherwise.
  void require_residual_test() const;

  // Ahead of the first solve: see petsc/row_order.hpp. Nothing for PETSc's own methods.
  void choose_row_order();
  // After that: what the resident engine has to set up, so that the first solve need not. Counted
  // in setup_seconds(). Collective.
  void prepare();

  // The norms that the method tested, of the last solve or of the one that runs, as far as the
  // history reaches.
  std::vector<double> residuals() const;

  void monitor(Monitor monitor) { monitor_ = std::move(monitor); }
  double setup_seconds() const { return setup_seconds_; }
  std::string method() const;  // what runs: cg, bicgstab, or PETSc's name
  Engine engine() const;
  std::string preconditioner() const;  // likewise
  double rtol() const;
  double atol() const;
  // What rtol is a part of: `unit`, which is ||b|| or, where b = 0, the first residual's norm,
  // unless an option says the first residual's or the smaller one.
  double reference(double unit, double first_norm) const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string type() const;  // of the KSP
  void set_types(const SolverSpec& spec, const std::string& type, const std::string& pc_type);
  void choose_engine(const SolverSpec& spec);
  void choose_norm();
  void note_a_block_size_of_one();
  void choose_parallel_factorisation(const std::string& asked);
  void give_entries(Mat assembled, const std::shared_ptr<const DistributedMatrix>& matrix);
  void set_block_factorisation();
  std::string unsymmetric_factorisation() const;  // its PC, where cg has one; else empty

  Mat amat_;
  std::unique_ptr<AssembledMat> pmat_;
  KspHandle ksp_;
  Monitor monitor_;
  Checkpoints checkpoints_;
  std::int64_t iterations_before_ = 0;  // the next solve of a loop of PETSc's own goes on from them
  std::int64_t iterations_ = 0;         // of the last solve, with those
  std::vector<double> history_;
  std::string block_type_;  // of block Jacobi's blocks, where we chose it
  std::vector<std::string> notes_;
  double setup_seconds_ = 0;
  double unscaled_atol_ = 0;
  int exponent_of_atol_ = 0;
};

// PETSc's names for Trireme's: bicgstab is bcgs; everything else is PETSc's already.
std::string ksp_type(const std::string& method);

}  // namespace trireme
