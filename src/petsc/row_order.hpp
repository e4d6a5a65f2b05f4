// SPDX-License-Identifier: BSD-3-Clause
// The row order in which the resident engine works on a GPU: the caller's or the kernel's own.
#pragma once

#include <petscksp.h>

#include <memory>

#include "distributed/cuda_operator.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme {

// Lets the operator of a KSP of a resident type try its kernel's row order, if it is a CudaOperator
// and the preconditioner does not depend on which rows are neighbours (block Jacobi does). Once an
// operator; KSPSolve does it, so a caller does it only to keep it out of the solve's time.
void choose_row_order(KSP ksp);

// In the order that was chosen, or in the caller's for a preconditioner of that type.
std::unique_ptr<solvers::CudaSystem> make_cuda_system(std::shared_ptr<CudaOperator> op,
                                                      solvers::PreconditionerSpec::Kind kind);

}  // namespace trireme
