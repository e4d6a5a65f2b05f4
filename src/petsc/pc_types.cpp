// SPDX-License-Identifier: BSD-3-Clause
// The PC types, and what a block Jacobi PC's blocks are.
#include "petsc/pc_types.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

struct Parameters {
  PetscInt block_size = 4;
  PetscInt degree = 4;
};

bool is_type(PC pc, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
  return same == PETSC_TRUE;
}

Parameters& parameters(PC pc) { return *static_cast<Parameters*>(data_of(pc)); }

PetscErrorCode set_from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme preconditioner options");
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscOptionsRangeInt("-pc_trireme_block_size", "rows of a dense diagonal block", "",
                                   parameters(pc).block_size, &parameters(pc).block_size, nullptr,
                                   2, 32));
  if (is_type(pc, kTriremeChebyshev))
    PetscCall(PetscOptionsRangeInt("-pc_trireme_degree", "products with A an application", "",
                                   parameters(pc).degree, &parameters(pc).degree, nullptr, 1, 100));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode apply(PC pc, Vec, Vec) {
  PetscFunctionBegin;
  PCType type = nullptr;
  PetscCall(PCGetType(pc, &type));
  SETERRQ(comm_of(pc), PETSC_ERR_SUP, "PC %s works inside -ksp_type trireme_cg%s only", type,
          is_type(pc, kTriremeChebyshev) ? "" : " or trireme_bicgstab");
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of %d rows\n",
                                     static_cast<int>(parameters(pc).block_size)));
  if (is_type(pc, kTriremePbjacobi) || is_type(pc, kTriremeVpbjacobi))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of the matrix's row groups\n"));
  if (is_type(pc, kTriremeChebyshev))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Chebyshev polynomial of Jacobi, %d products\n",
                                     static_cast<int>(parameters(pc).degree)));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode destroy(PC pc) {
  delete &parameters(pc);
  forget_data(pc);
  return kPetscSuccess;
}

PetscErrorCode create(PC pc) {
  install(pc, {set_from_options, apply, view, destroy}, new Parameters);
  return kPetscSuccess;
}

}  // namespace

void register_resident_preconditioners() {
  for (const char* type :
       {kTriremeBlockJacobi, kTriremePbjacobi, kTriremeVpbjacobi, kTriremeChebyshev})
    petsc_check(PCRegister(type, create));
}

std::string resident_pc_type(std::string_view preconditioner) {
  if (preconditioner == PCPBJACOBI) return kTriremePbjacobi;
  if (preconditioner == PCVPBJACOBI) return kTriremeVpbjacobi;
  return std::string(preconditioner);
}

PetscInt degree_of(PC pc) { return is_type(pc, kTriremeChebyshev) ? parameters(pc).degree : 0; }

DenseBlocks dense_blocks_of(PC pc, Mat pmat) {
  DenseBlocks blocks;
  if (is_type(pc, kTriremeBlockJacobi)) {
    blocks.size = static_cast<std::int32_t>(parameters(pc).block_size);
  } else if (is_type(pc, kTriremePbjacobi) || is_type(pc, PCPBJACOBI)) {
    PetscInt size = 1;
    petsc_check(MatGetBlockSize(pmat, &size));
    blocks.size = static_cast<std::int32_t>(size);
  } else if (is_type(pc, kTriremeVpbjacobi) || is_type(pc, PCVPBJACOBI)) {
    PetscInt groups = 0, rows = 0;
    const PetscInt* sizes = nullptr;
    petsc_check(MatGetVariableBlockSizes(pmat, &groups, &sizes));
    petsc_check(MatGetLocalSize(pmat, &rows, nullptr));
    if (groups == 0 && rows > 0)
      fail(ExitCode::usage, "vpbjacobi needs row groups: call MatSetVariableBlockSizes");
    blocks.size = 1;
    blocks.group_starts.push_back(0);
    for (PetscInt k = 0; k < groups; ++k) {
      blocks.size = std::max(blocks.size, static_cast<std::int32_t>(sizes[k]));
      blocks.group_starts.push_back(blocks.group_starts.back() +
                                    static_cast<std::int32_t>(sizes[k]));
    }
  }
  return blocks;
}

}  // namespace trireme
