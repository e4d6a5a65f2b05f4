// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/pc/pc_approximate_inverses.hpp"

#include "inverses/row_rules.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {

namespace {

// What the two types differ by, for readers.
struct FsaiWords {
  using Data = FsaiPc;
  static constexpr const char* type = kTriremeFsai;
  static constexpr const char* head = "Trireme FSAI options";
  static constexpr const char* option = "-pc_trireme_fsai_steps";
  static constexpr const char* name = "factorised sparse approximate inverse";
};
struct SpaiWords {
  using Data = SpaiPc;
  static constexpr const char* type = kTriremeSpai;
  static constexpr const char* head = "Trireme SPAI options";
  static constexpr const char* option = "-pc_trireme_spai_steps";
  static constexpr const char* name = "sparse approximate inverse";
};

template <class Words>
PetscErrorCode inverse_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  auto& options = GivenPcFunctions<typename Words::Data>::data(pc).options;
  PetscInt steps = options.steps;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, Words::head);
  PetscCall(PetscOptionsRangeInt(Words::option, "steps by which the pattern of a row grows", "",
                                 steps, &steps, nullptr, 1, inverses::kMostSteps));
  PetscOptionsHeadEnd();
  const bool changed = steps != options.steps;
  options.steps = static_cast<std::int32_t>(steps);
  if (changed) ask_for_set_up(pc);
  PetscFunctionReturn(kPetscSuccess);
}

template <class Words>
PetscErrorCode inverse_print(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const auto& data = GivenPcFunctions<typename Words::Data>::data(pc);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s, %d steps of %d entries per row\n", Words::name,
                                   static_cast<int>(data.options.steps),
                                   static_cast<int>(inverses::kEntriesPerStep)));
  const auto facts = data.facts();
  if (!facts) PetscFunctionReturn(kPetscSuccess);
  if (data.negated())
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  made of -A, because the diagonal of A is negative throughout\n"));
  const bool two = !facts->kernel_of_transposed.empty();
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %lld nonzeros in %s, %s %s%s%s, built %d times, renewed %d times\n",
      static_cast<long long>(facts->nnz), facts->in_fp32 ? "FP32" : "FP64",
      two ? "kernels" : "kernel", facts->kernel.c_str(), two ? " and " : "",
      facts->kernel_of_transposed.c_str(), data.builds, data.renewals));
  PetscFunctionReturn(kPetscSuccess);
}

template <class Words>
PetscErrorCode inverse_create(PC pc) {
  using Functions = GivenPcFunctions<typename Words::Data>;
  install(pc,
          {inverse_set_from_options<Words>, Functions::apply,
           Functions::template view<inverse_print<Words>>, Functions::destroy, Functions::set_up,
           Functions::reset, Functions::apply_transpose},
          new typename Words::Data);
  return kPetscSuccess;
}

template <class Words>
typename Words::Data* inverse_of(PC pc) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), Words::type, &same));
  return same == PETSC_TRUE ? &GivenPcFunctions<typename Words::Data>::data(pc) : nullptr;
}

}  // namespace

void register_approximate_inverses() {
  petsc_check(PCRegister(kTriremeFsai, inverse_create<FsaiWords>));
  petsc_check(PCRegister(kTriremeSpai, inverse_create<SpaiWords>));
}

FsaiPc* fsai_of(PC pc) { return inverse_of<FsaiWords>(pc); }
SpaiPc* spai_of(PC pc) { return inverse_of<SpaiWords>(pc); }

GivenPc* approximate_inverse_of(PC pc) {
  if (FsaiPc* const fsai = fsai_of(pc)) return fsai;
  return spai_of(pc);
}

}  // namespace trireme
