// SPDX-License-Identifier: BSD-3-Clause
// A solve by PETSc's loop for a KSP of a resident type, where the resident engine does not serve.
#pragma once

#include <petscksp.h>

#include "solvers/methods/list.hpp"

namespace trireme {

// Solves the system of `ksp`, which KSPSolve has given its vectors, by PETSc's KSP type of the same
// method. PC, tolerances, first guess, monitors, residual history and convergence test are those of
// `ksp`, which also gets the result. The norm is that of `ksp` if PETSc's type can test it, else the
// default of that type. b - A x confirms nothing. Returns PETSc's KSP type. Collective.
KSPType solve_by_petsc(KSP ksp, solvers::Method method);

}  // namespace trireme
