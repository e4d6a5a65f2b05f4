// SPDX-License-Identifier: BSD-3-Clause
// Many right-hand sides by a KSP of a resident type: KSPMatSolve, and the same for arrays.
//
// KSPMatSolve keeps PETSc's conventions:
//   batches     KSPSetMatSolveBatchSize says how many columns are solved at once. By default all
//               are
//   results     KSPGetConvergedReason is that of the worst column of all batches: a column that has
//               failed goes before one that has converged, of the failures the one with the
//               smallest number, and of the successes the one with the most iterations.
//               KSPGetIterationNumber and KSPGetResidualNorm are the largest of all columns; NaN
//               counts as the largest
//   monitors    and the residual history: once per iteration of the block, with the largest norm of
//               the columns that did this iteration. A column that waits for the confirmation of
//               its claim does it later, so that a block may have more iterations than each column
//   one by one  with a convergence test of the user, and with a monitor option that asks for the
//               solution, such as -ksp_monitor_true_residual, the columns are solved one after
//               another. Likewise on GPUs by block CG, and by kernels that multiply one vector
//               only. A monitor without an option that asks for the solution is an error
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "petsc/ksp/ksp_types.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme {

// This rank's rows of B and X, in the caller's row order.
struct KspBlock {
  MultiVector<const double> b;
  MultiVector<double> x;              // the initial guesses, and the solutions
  bool zero_guess = true;             // x is not read
  std::span<const double> atol = {};  // of each column; empty: that of the KSP for all
  std::int64_t longest_history = 0;   // norms that KspColumn::residuals keeps at most
};

struct KspColumn {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  std::int64_t iterations = 0;
  double norm = 0;
  KspFacts facts;
  std::vector<double> residuals;  // the norm that the method tests, from iteration 0
};

// Whether ksp_solve_block() serves this KSP: PETSc's default test or KSPConvergedSkip ends the
// loop, which runs on the host, or on GPUs with a kernel that multiplies several vectors at once.
// Collective.
bool ksp_solves_blocks(KSP ksp);

// Whether the preconditioner of ksp_solve_block() takes one column after another. Prepares the
// solver. Throws Error{usage} unless ksp_solves_blocks(). Collective.
bool ksp_preconditions_one_by_one(KSP ksp);

// The bytes of this rank's work vectors for `width` columns, on the GPU where the loop runs there.
// Prepares the solver. Throws Error{usage} unless ksp_solves_blocks(). Collective.
std::int64_t ksp_block_bytes(KSP ksp, std::int64_t width);

// Solves A X = B. The number of columns is the same on every rank. What the KSP says of its last
// solve is that of the worst column. Throws Error{usage} unless ksp_solves_blocks(), and what
// BlockSolver::solve() throws. Collective.
std::vector<KspColumn> ksp_solve_block(KSP ksp, const KspBlock& block);

// ops->matsolve of the resident types, for dense B and X. `solve_one` solves for the vectors that
// the KSP has.
void ksp_mat_solve(KSP ksp, Mat b, Mat x, const std::function<void()>& solve_one);

}  // namespace trireme
