// SPDX-License-Identifier: BSD-3-Clause
// The order of rows in which the resident engine works: the caller's, that of the operator, or the
// kernel's own on a GPU.
#pragma once

#include <petscksp.h>

#include <memory>

#include "config/case.hpp"
#include "distributed/cuda_operator.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme {

// Whether rows may be in another order than the caller's (OperatorOptions::ordered): the resident
// engine solves, and the preconditioner does not depend on which rows are neighbours. The first
// function knows the names of the case only, which options may overrule; the second one asks a KSP.
bool row_order_is_free(const SolverSpec& spec);
bool row_order_is_free(KSP ksp);
// Throws Error{usage} for a preconditioner that needs the caller's order.
void require_free_order(solvers::PreconditionerSpec::Kind kind);

// Lets the operator of a KSP of a resident type try the row order of its kernel, if it is a
// CudaOperator and the preconditioner does not depend on which rows are neighbours (block Jacobi
// does). An operator tries once. KSPSolve calls this function; a caller who calls it earlier keeps
// the trial out of the time of the solve.
void choose_row_order(KSP ksp);

// The system in the order that was chosen, or in the caller's order where the preconditioner needs
// that order.
std::unique_ptr<solvers::CudaSystem> make_cuda_system(std::shared_ptr<CudaOperator> op,
                                                      solvers::PreconditionerSpec::Kind kind);

}  // namespace trireme
