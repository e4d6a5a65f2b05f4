// SPDX-License-Identifier: BSD-3-Clause
// What the loop of the resident engine needs to apply the preconditioner of a PC.
#pragma once

#include "distributed/cuda_operator.hpp"
#include "petsc/ksp/applied_pc.hpp"
#include "petsc/ksp/ksp_engine.hpp"
#include "solvers/preconditioners/spec.hpp"

namespace trireme {

// A spec and the arrays that its spans refer to.
struct LoopPreconditioner {
  solvers::PreconditionerSpec spec;
  DenseBlocks blocks;
  Array<double> values;
};

// `cuda` is the operator of a loop on a GPU, else null: what its copy of the matrix has is left
// out. Throws Error{usage} or Error{input} for a preconditioner that the loop cannot apply.
// Collective, because block_size is the size of the widest block of all ranks.
LoopPreconditioner loop_preconditioner(solvers::Method method, const LoopInputs& inputs,
                                       const DenseBlocks& blocks, const CudaOperator* cuda);

// The preconditioner that PETSc applies, by PCApply. `pc` must outlive what is returned.
LoopPreconditioner applied_preconditioner(AppliedPc& pc);

}  // namespace trireme
