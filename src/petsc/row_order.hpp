// SPDX-License-Identifier: BSD-3-Clause
// The row order in which the resident engine works on a GPU: the caller's or the kernel's own.
#pragma once

#include <petscksp.h>

#include <memory>

#include "distributed/cuda_operator.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme {

// Whether a KSP of a resident type has a preconditioner that does not depend on which rows are
// neighbours.
bool row_order_is_free(KSP ksp);

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
