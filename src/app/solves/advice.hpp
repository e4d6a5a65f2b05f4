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
  std::vector<std::string> tried{};                         // other methods, by `method: auto`
  std::int64_t max_iterations = 0;                          // of the case
  std::int64_t restart = 0;                                 // likewise
  bool resident = true;                                     // the engine
  double divergence_bound = 0;
};

// "; try method minres, or preconditioner jacobi"; empty where the reason is not one that another
// method or preconditioner would change.
std::string advice(const FailedSolve& failed, const MatrixLook& matrix);

// Puts a clause ahead of PETSc's name of the reason, which stays at the end of the text.
void add_clause(Verdict& verdict, const std::string& clause);

}  // namespace trireme
