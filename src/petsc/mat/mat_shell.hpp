// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator as a PETSc MatShell, which has no assembled entries: MatMult,
// MatMultTranspose, MatGetDiagonal and MatDestroy work with it.
#pragma once

#include <memory>

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The shell shares ownership of the operator. MatMult of a mixed-precision operator is by the
// rounded matrix. MatCreateVecs gives vectors of the row distribution. With a CudaOperator and a
// PETSc that has CUDA, these vectors live on the device, and no product copies them. -log_view
// shows TriremeHalo, TriremeLocal and TriremeGhost within MatMult. Collective.
MatHandle make_shell(std::shared_ptr<Operator> op);

// The operator of a Mat that make_shell() made; null for any other Mat.
std::shared_ptr<Operator> shell_operator(Mat mat);

// Makes another operator multiply in a shell of make_shell(): the same matrix by another kernel on
// the same device. The products and the log go to the new operator at once. With
// `solver_starts_anew` the shell counts as changed, so that a resident solver prepares itself
// again. Collective.
void replace_operator(Mat shell, std::shared_ptr<Operator> op, bool solver_starts_anew);

}  // namespace trireme
