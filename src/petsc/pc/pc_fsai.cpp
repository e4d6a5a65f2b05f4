// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/pc/pc_fsai.hpp"

#include "inverses/row_rules.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {

namespace {

using FsaiFunctions = GivenPcFunctions<FsaiPc>;

PetscErrorCode fsai_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  inverses::FsaiOptions& options = FsaiFunctions::data(pc).options;
  PetscInt steps = options.steps;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme FSAI options");
  PetscCall(PetscOptionsRangeInt("-pc_trireme_fsai_steps",
                                 "steps by which the pattern of a row grows", "", steps, &steps,
                                 nullptr, 1, inverses::kMostSteps));
  PetscOptionsHeadEnd();
  const bool changed = steps != options.steps;
  options.steps = static_cast<std::int32_t>(steps);
  if (changed) ask_for_set_up(pc);
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode fsai_print(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const FsaiPc& data = FsaiFunctions::data(pc);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  factorised sparse approximate inverse, %d steps of %d "
                                   "entries per row\n",
                                   static_cast<int>(data.options.steps),
                                   static_cast<int>(inverses::kEntriesPerStep)));
  const auto facts = data.facts();
  if (!facts) PetscFunctionReturn(kPetscSuccess);
  if (data.negated())
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  made of -A, because the diagonal of A is negative throughout\n"));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %lld nonzeros in %s, kernels %s and %s, built %d times, renewed %d times\n",
      static_cast<long long>(facts->nnz), facts->in_fp32 ? "FP32" : "FP64", facts->kernel.c_str(),
      facts->kernel_of_transposed.c_str(), data.builds, data.renewals));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode fsai_create(PC pc) {
  install(pc,
          {fsai_set_from_options, FsaiFunctions::apply, FsaiFunctions::view<fsai_print>,
           FsaiFunctions::destroy, FsaiFunctions::set_up, FsaiFunctions::reset,
           FsaiFunctions::apply_transpose},
          new FsaiPc);
  return kPetscSuccess;
}

}  // namespace

void register_fsai() { petsc_check(PCRegister(kTriremeFsai, fsai_create)); }

FsaiPc* fsai_of(PC pc) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), kTriremeFsai, &same));
  return same == PETSC_TRUE ? &FsaiFunctions::data(pc) : nullptr;
}

}  // namespace trireme
