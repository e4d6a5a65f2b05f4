// SPDX-License-Identifier: BSD-3-Clause
// Diagonals, blocks and parameters of a PC, as far as the loop has no copy of its own.
#include "petsc/ksp/loop_preconditioner.hpp"

#include <utility>

#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/given_pc.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/pc/pc_types.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

using solvers::PreconditionerSpec;

// What the solver takes from a GPU's copy of the matrix. The spec is empty there.
struct FromDevice {
  bool blocks = false, diagonal = false;
};

FromDevice from_device(const CudaOperator* of_amat, const Operator* of_pmat) {
  if (!of_amat || of_amat != of_pmat || !of_amat->has_entries()) return {};
  return {.blocks = true, .diagonal = !of_amat->permuted()};
}

// The data that the resident loop needs of `pc`, besides `from_device`. Collective, because
// block_size is the size of the widest block of all ranks.
LoopPreconditioner data_of_preconditioner(solvers::Method method, Mat amat, Mat pmat, PC pc,
                                          DenseBlocks blocks, FromDevice from_device) {
  LoopPreconditioner data;
  PreconditionerSpec& spec = data.spec;
  spec.magnitudes = solvers::info_of(method).positive_preconditioner;
  PetscInt first_row = 0;
  petsc_check(MatGetOwnershipRange(pmat, &first_row, nullptr));
  spec.first_row = first_row;
  if (const auto op = shell_operator(pmat)) spec.callers_rows = op->matrix().callers_rows;
  data.blocks = std::move(blocks);
  MPI_Allreduce(MPI_IN_PLACE, &data.blocks.size, 1, MPI_INT32_T, MPI_MAX, comm_of(pmat));
  const solvers::AnyPreconditioner preconditioner = preconditioner_of(pc);
  if (GivenPc* const given = given_pc_of(pc)) {
    spec.kind = preconditioner.own()->kind;
    spec.given = &given->operation();
    return data;
  }
  if (data.blocks.size > 1) {
    spec.kind = PreconditionerSpec::Kind::blocks;
    spec.block_size = data.blocks.size;
    spec.group_starts = data.blocks.group_starts;
    if (from_device.blocks) return data;
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(pmat, &rows, nullptr));
    data.values = diagonal_blocks_of(pmat, solvers::block_rows(spec, rows));
    spec.blocks = data.values;
  } else if (!works_in_petscs_loops(pc) && data.blocks.size == 0) {
    const solvers::PreconditionerInfo& info = preconditioner.own()->info;
    spec.kind = preconditioner.own()->kind;
    if (info.parameter.place)
      spec.*info.parameter.place = static_cast<std::int32_t>(parameter_of(pc));
    if (info.data == solvers::PreconditionerData::diagonal && !from_device.diagonal)
      data.values = diagonal_of(pmat);
    spec.diagonal = data.values;
  } else if (data.blocks.size == 1) {
    spec.kind = PreconditionerSpec::Kind::jacobi;
    if (!from_device.diagonal) data.values = diagonal_of(pmat);
    spec.diagonal = data.values;
  } else if (!preconditioner.is(PreconditionerSpec::Kind::none)) {
    spec.kind = PreconditionerSpec::Kind::jacobi;
    const bool diagonal = inverts_the_diagonal(pc);
    if (from_device.diagonal && diagonal) return data;
    if (const auto op = shell_operator(pmat); op && diagonal) {
      data.values.resize(op->matrix().local_rows());
      op->matrix().diagonal(data.values);
      spec.diagonal = data.values;
      return data;
    }
    data.values = inverse_diagonal_of(pc, amat);
    spec.inverse_diagonal = data.values;
  }
  return data;
}

}  // namespace

LoopPreconditioner applied_preconditioner(AppliedPc& pc) {
  LoopPreconditioner data;
  data.spec.kind = PreconditionerSpec::Kind::given;
  data.spec.given = &pc;
  return data;
}

LoopPreconditioner loop_preconditioner(solvers::Method method, const LoopInputs& inputs,
                                       const DenseBlocks& blocks, const CudaOperator* cuda) {
  return data_of_preconditioner(method, inputs.amat, inputs.pmat, inputs.pc, blocks,
                                from_device(cuda, cuda ? operator_of(inputs.pmat).get() : nullptr));
}

}  // namespace trireme
