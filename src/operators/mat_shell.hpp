// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator as a PETSc MatShell: MULT, MULT_TRANSPOSE, GET_DIAGONAL, DESTROY.
#pragma once

#include <memory>

#include "operators/distributed_operator.hpp"
#include "operators/petsc_shim.hpp"

namespace trireme {

// The shell shares ownership of the operator. MatCreateVecs gives vectors of the row distribution.
// -log_view shows TriremeHalo, TriremeLocal and TriremeGhost within MatMult.
MatHandle make_shell(std::shared_ptr<DistributedOperator> op);

// The operator of a Mat that make_shell() or MatCreateTrireme() made; null for any other Mat.
std::shared_ptr<DistributedOperator> shell_operator(Mat mat);

}  // namespace trireme
