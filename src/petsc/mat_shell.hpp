// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator as a PETSc MatShell: MULT, MULT_TRANSPOSE, GET_DIAGONAL, DESTROY.
#pragma once

#include <memory>

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The shell shares ownership of the operator. MatCreateVecs gives vectors of the row distribution;
// with a CudaOperator and a PETSc that has CUDA they live on the device, and no product copies
// them. -log_view shows TriremeHalo, TriremeLocal and TriremeGhost within MatMult.
MatHandle make_shell(std::shared_ptr<Operator> op);

// The operator of a Mat that make_shell() or MatCreateTrireme() made; null for any other Mat.
std::shared_ptr<Operator> shell_operator(Mat mat);

}  // namespace trireme
