// SPDX-License-Identifier: BSD-3-Clause
// What to try after a solve that has failed: what applies to the matrix and was not tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributed/matrix_look.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/ksp/reasons.hpp"

namespace trireme {

struct FailedSolve {
  int reason = 0;  // KSPConvergedReason
  std::string method;
  AnyPreconditioner preconditioner;
  std::optional<AnyPreconditioner> block_preconditioner{};  // see KspSolver
  std::vector<AnyPreconditioner> left{};                    // what `auto` has left
  bool names_preconditioner = false;  // the case does, so that `auto` may not choose one
  bool climbs = false;                // `method: auto` has chosen
  std::vector<std::string> tried{};   // other methods, where it has
  std::int64_t max_iterations = 0;    // of the case
  std::int64_t restart = 0;           // likewise
  bool resident = true;               // the engine
  double divergence_bound = 0;
};

// "; try preconditioner multigrid, or method auto": what was not tried and applies to the matrix.
// Whoever follows the first suggestion of each line comes to no setting twice: under CG a
// preconditioner becomes multigrid, minres and bicgstab come only where the method before cannot
// serve the matrix, and all else is left to `method: auto`, which ends.
std::string advice(const FailedSolve& failed, const MatrixLook& matrix);

// Puts a clause ahead of PETSc's name of the reason, which stays at the end of the text.
void add_clause(Verdict& verdict, const std::string& clause);

}  // namespace trireme
