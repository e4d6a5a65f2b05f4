// SPDX-License-Identifier: BSD-3-Clause
// The two PC types; the loop applies them, PETSc's own methods cannot.
#include "krylov/resident_pc.hpp"

#include "krylov/petsc_private.hpp"

namespace trireme {
namespace {

struct Parameters {
  PetscInt block_size = 4;
  PetscInt degree = 4;
};

Parameters& parameters(PC pc) { return *static_cast<Parameters*>(data_of(pc)); }

PetscErrorCode set_from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme preconditioner options");
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscOptionsRangeInt("-pc_trireme_block_size", "rows of a dense diagonal block", "",
                                   parameters(pc).block_size, &parameters(pc).block_size, nullptr,
                                   2, 32));
  else
    PetscCall(PetscOptionsRangeInt("-pc_trireme_degree", "products with A an application", "",
                                   parameters(pc).degree, &parameters(pc).degree, nullptr, 1, 100));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode apply(PC pc, Vec, Vec) {
  PetscFunctionBegin;
  PCType type = nullptr;
  PetscCall(PCGetType(pc, &type));
  SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
          "PC %s works inside -ksp_type trireme_cg or trireme_bicgstab only", type);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of %d rows\n",
                                     static_cast<int>(parameters(pc).block_size)));
  else
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
  petsc_check(PCRegister(kTriremeBlockJacobi, create));
  petsc_check(PCRegister(kTriremeChebyshev, create));
}

bool is_type(PC pc, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
  return same == PETSC_TRUE;
}

PetscInt block_size_of(PC pc) { return parameters(pc).block_size; }
PetscInt degree_of(PC pc) { return parameters(pc).degree; }

}  // namespace trireme
