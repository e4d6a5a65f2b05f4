// SPDX-License-Identifier: BSD-3-Clause
// The promise of exit code 0: ||b - A x|| was computed and is within the tolerance.
#pragma once

#include <algorithm>
#include <string>

#include "app/solves/plain_product.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/ksp/reasons.hpp"
#include "planning/acceptance.hpp"

namespace trireme {

// The norm of the true residual at which a solve may end, where rtol is a part of `reference`.
inline double target_norm(const KspSolver& solver, double reference) {
  return std::max(solver.rtol() * reference, solver.atol());
}

// What b - A x came to, and what the solver says of it. Norms are those of the scaled system.
struct TrueResidual {
  double norm = 0;
  double unit = 0;          // ||b||
  double reference = 0;     // what rtol is a part of
  double last_norm = -1;    // that the method tested; negative: it tested none
  Residual rows = {};       // in the scale of the rows, as PlainProduct gives it
  bool overflows = false;   // x overflows as it is scaled back to the caller's system
  bool underflows = false;  // x underflows there
};

// What the residual is in the scale of the rows, and where it is worst; `residual` has it.
std::string about_rows(const Residual& residual, double unit);
// Whether it is ten times what it is in relation to ||b||, so that it is worth a line.
bool rows_say_more(const Residual& residual, double unit);

// How often the residual is what is asked for, in the worst one of the norms that must be small.
double excess(const KspSolver& solver, const TrueResidual& residual);

// Takes the claim of convergence back where the residual does not bear it out. A method may claim
// convergence although its recurrence has drifted, or because it tests another norm or none. Beyond
// the tolerance a fiftieth is allowed for rounding.
void confirm(Verdict& verdict, const KspSolver& solver, const TrueResidual& residual);

}  // namespace trireme
