// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/pc/pc_incomplete_factors.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

using FactorFunctions = GivenPcFunctions<IncompleteFactorsPc>;

PetscErrorCode factors_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  factors::IluOptions& options = FactorFunctions::data(pc).options;
  PetscInt levels = options.levels;
  constexpr auto& words = WordsOf<factors::RowOrder>::all;
  std::array<const char*, 1 + std::size(words)> names{kAuto.data()};
  std::ranges::transform(words, names.begin() + 1,
                         [](const auto& word) { return word.word.data(); });
  PetscInt order = options.order ? 1 + static_cast<PetscInt>(*options.order) : 0;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme incomplete factors options");
  PetscCall(PetscOptionsRangeInt("-pc_trireme_ilu_levels", "levels of fill", "", levels, &levels,
                                 nullptr, 0, factors::kMostLevels));
  PetscCall(PetscOptionsEList("-pc_trireme_ilu_order", "order in which rows are eliminated", "",
                              names.data(), static_cast<PetscInt>(names.size()), names[order],
                              &order, nullptr));
  PetscInt overlap = options.overlap;
  if (!options.definite)
    PetscCall(PetscOptionsRangeInt("-pc_trireme_ilu_overlap",
                                   "layers of rows that ranks share with others", "", overlap,
                                   &overlap, nullptr, 0, factors::kMostOverlap));
  PetscOptionsHeadEnd();
  const factors::IluOptions before = options;
  options.levels = static_cast<std::int32_t>(levels);
  options.overlap = static_cast<std::int32_t>(overlap);
  options.order.reset();
  if (order > 0) options.order = words[order - 1].choice;
  if (options != before) ask_for_set_up(pc);
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode factors_print(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const IncompleteFactorsPc& data = FactorFunctions::data(pc);
  const auto facts = data.facts();
  if (!facts) PetscFunctionReturn(kPetscSuccess);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  incomplete factors, %d levels of fill, order %s\n",
                                   static_cast<int>(facts->choice.levels),
                                   to_string(facts->choice.order).data()));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %lld nonzeros in %s, %lld levels of rows, built %d times, renewed %d times\n",
      static_cast<long long>(facts->nnz), facts->in_fp32 ? "FP32" : "FP64",
      static_cast<long long>(facts->levels_of_rows), data.builds, data.renewals));
  if (facts->overlap > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %d layers of rows overlap between ranks\n",
                                     static_cast<int>(facts->overlap)));
  if (facts->replaced > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %lld pivots were too small and were replaced\n",
                                     static_cast<long long>(facts->replaced)));
  if (facts->shift > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  the diagonal is larger by a part of %g, for the pivots to be positive\n",
        facts->shift));
  PetscFunctionReturn(kPetscSuccess);
}

template <bool definite>
PetscErrorCode factors_create(PC pc) {
  auto* const data = new IncompleteFactorsPc;
  data->options.definite = definite;
  install(pc,
          {factors_set_from_options, FactorFunctions::apply, FactorFunctions::view<factors_print>,
           FactorFunctions::destroy, FactorFunctions::set_up, FactorFunctions::reset,
           definite ? FactorFunctions::apply_transpose : nullptr},
          data);
  return kPetscSuccess;
}

}  // namespace

void register_incomplete_factors() {
  petsc_check(PCRegister(kTriremeIlu, factors_create<false>));
  petsc_check(PCRegister(kTriremeIcc, factors_create<true>));
}

IncompleteFactorsPc* incomplete_factors_of(PC pc) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &same, kTriremeIlu,
                                        kTriremeIcc, ""));
  return same == PETSC_TRUE ? &FactorFunctions::data(pc) : nullptr;
}

}  // namespace trireme
