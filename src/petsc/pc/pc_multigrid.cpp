// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy takes from PETSc, and the functions that PETSc calls.
#include "petsc/pc/pc_multigrid.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "multigrid/store/find_or_build.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/pc/near_nullspace.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {

using multigrid::Options;

namespace {

Options with_block_size_of(Mat pmat, Options options) {
  PetscInt block_size = 1;
  petsc_check(MatGetBlockSize(pmat, &block_size));
  if (options.block_size == 1) options.block_size = static_cast<std::int32_t>(block_size);
  return options;
}

// Of the present Pmat.
multigrid::NearNullspace modes_of(PC pc) {
  Mat pmat = nullptr;
  petsc_check(PCGetOperators(pc, nullptr, &pmat));
  return near_nullspace_of(pmat);
}

}  // namespace

void MultigridPc::set(const Options& options) {
  if (options == options_) return;
  options_ = options;
  forget_levels();
}

void MultigridPc::set_up(PC pc) {
  Mat pmat = nullptr;
  petsc_check(PCGetOperators(pc, nullptr, &pmat));
  const MatEntries::Change change = entries_.take(pmat);
  const Options wanted = with_block_size_of(pmat, options_);
  std::vector<PetscObjectState> modes = near_nullspace_state(pmat);
  const bool same_modes = !any_rank(comm_of(pc), modes != mode_states_);
  const bool renews =
      change != MatEntries::Change::everything && same_modes && is_built_with(wanted);
  if (renews && change == MatEntries::Change::none) return;
  mode_states_ = std::move(modes);
  if (renews) return renew();
  const auto give_modes = [pc] { return modes_of(pc); };
  build(entries_.matrix(), give_modes, wanted);
}

void MultigridPc::forget() {
  forget_levels();
  entries_.forget();
}

namespace {

using MultigridFunctions = GivenPcFunctions<MultigridPc>;

MultigridPc& data(PC pc) { return MultigridFunctions::data(pc); }

// An option whose value is one of the words of an enumeration.
template <class Choice>
PetscErrorCode read_word(OptionItems PetscOptionsObject, const char* name, const char* text,
                         Choice& choice) {
  constexpr auto& words = WordsOf<Choice>::all;
  constexpr std::size_t count = std::size(words);
  const char* list[count] = {};
  PetscInt place = 0;
  PetscFunctionBegin;
  for (std::size_t k = 0; k < count; ++k) {
    list[k] = words[k].word.data();
    if (words[k].choice == choice) place = static_cast<PetscInt>(k);
  }
  PetscCall(PetscOptionsEList(name, text, "", list, static_cast<PetscInt>(count), list[place],
                              &place, nullptr));
  choice = words[place].choice;
  PetscFunctionReturn(kPetscSuccess);
}

template <class Integer>
PetscErrorCode read_integer(OptionItems PetscOptionsObject, const char* name, const char* text,
                            Integer& number, PetscInt min, PetscInt max) {
  auto value = static_cast<PetscInt>(number);
  PetscFunctionBegin;
  PetscCall(PetscOptionsRangeInt(name, text, "", value, &value, nullptr, min, max));
  number = static_cast<Integer>(value);
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode multigrid_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  constexpr PetscInt kMaxRows = 1'000'000;
  Options options = data(pc).options();
  PetscBool smoothed = options.smoothed_prolongator ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme multigrid options");
  PetscCall(read_word(PetscOptionsObject, "-pc_trireme_mg_smoother", "smoother of each level",
                      options.smoother));
  PetscCall(read_integer(PetscOptionsObject, "-pc_trireme_mg_degree", "products of one smoothing",
                         options.degree, 1, 8));
  PetscCall(read_word(PetscOptionsObject, "-pc_trireme_mg_cycle",
                      "whether a level visits the coarser one once (v) or twice (w)",
                      options.cycle));
  PetscCall(PetscOptionsReal("-pc_trireme_mg_threshold",
                             "entries below this part of their diagonals are dropped", "",
                             options.threshold, &options.threshold, nullptr));
  PetscCheck(options.threshold >= 0 && options.threshold < 1, comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_trireme_mg_threshold must be from 0 to below 1, not %g", options.threshold);
  PetscCall(PetscOptionsBool("-pc_trireme_mg_smoothed",
                             "whether the prolongator is smoothed; false for nonsymmetric matrices",
                             "", smoothed, &smoothed, nullptr));
  PetscCall(PetscOptionsReal("-pc_trireme_mg_fill",
                             "most nonzeros of a coarse matrix per nonzero of the finer one", "",
                             options.fill, &options.fill, nullptr));
  PetscCheck(options.fill >= 0, comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_trireme_mg_fill must be at least 0, not %g", options.fill);
  PetscCall(read_word(PetscOptionsObject, "-pc_trireme_mg_precision", "of the stored matrix values",
                      options.precision));
  PetscCall(read_integer(PetscOptionsObject, "-pc_trireme_mg_aggressive_levels",
                         "finest levels that are coarsened twice at once",
                         options.aggressive_levels, 0, 20));
  PetscCall(read_integer(PetscOptionsObject, "-pc_trireme_mg_max_levels",
                         "maximum number of levels", options.max_levels, 1, 100));
  PetscCall(read_integer(PetscOptionsObject, "-pc_trireme_mg_coarsest_rows",
                         "a level of at most so many rows is inverted", options.coarsest_rows, 1,
                         kMaxRows));
  PetscOptionsHeadEnd();
  options.smoothed_prolongator = smoothed == PETSC_TRUE;
  const bool changed = !(options == data(pc).options());
  data(pc).set(options);
  if (changed) ask_for_set_up(pc);
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode multigrid_print(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const Options& options = data(pc).options();
  const std::optional<multigrid::HierarchyFacts> facts = data(pc).facts();
  const Smoother used = facts ? facts->smoother : options.smoother;
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  smoothed aggregation, %s, smoother %s of degree %d, values in %s precision\n",
      options.cycle == multigrid::CycleKind::v ? "V-cycle" : "W-cycle", to_string(used).data(),
      options.degree, to_string(options.precision).data()));
  if (used != options.smoother)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  smoother %s does not suit this matrix: %s\n",
                                     to_string(options.smoother).data(),
                                     options.smoother == Smoother::block_jacobi
                                         ? "it needs a symmetric one with a block size above 1"
                                         : "it needs a symmetric one"));
  if (!facts) PetscFunctionReturn(kPetscSuccess);
  if (data(pc).negated())
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  made of -A, because the diagonal of A is negative throughout\n"));
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  operator complexity %.2f, grid complexity %.2f, built %d times, renewed %d times\n",
      operator_complexity(facts->levels), grid_complexity(facts->levels), data(pc).builds(),
      data(pc).renewals()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n",
                                   fmt::format("{:>5} {:>12} {:>13}  {:<24} {}", "level", "rows",
                                               "nonzeros", "prolongator", "kernel")
                                       .c_str()));
  int number = 0;
  for (const multigrid::LevelFacts& level : facts->levels)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  %s\n",
        fmt::format("{:>5} {:>12} {:>13}  {:<24} {}{}", number++, level.rows, level.nnz,
                    level.prolongator.empty() ? "-" : level.prolongator, level.kernel,
                    level.replicated ? ", on every rank" : "")
            .c_str()));
  if (!facts->remark.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", facts->remark.c_str()));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode multigrid_create(PC pc) {
  install(
      pc,
      {multigrid_set_from_options, MultigridFunctions::apply,
       MultigridFunctions::view<multigrid_print>, MultigridFunctions::destroy,
       MultigridFunctions::set_up, MultigridFunctions::reset, MultigridFunctions::apply_transpose},
      new MultigridPc);
  return kPetscSuccess;
}

}  // namespace

Options multigrid_options(const SolverSpec& spec) {
  const MultigridSpec& asked = spec.multigrid;
  const auto ours = resident_method(spec.first_method());  // where the case names a KSP type
  const auto method = ours ? ours : solvers::method_named(spec.first_method());
  const bool symmetric = method && method->info.symmetric;
  return {.smoother = asked.smoother.value_or(symmetric ? Smoother::chebyshev : Smoother::jacobi),
          .degree = static_cast<std::int32_t>(asked.degree),
          .cycle = asked.cycle,
          .threshold = asked.threshold,
          .smoothed_prolongator = asked.smoothed_prolongator,
          .fill = asked.fill,
          .aggressive_levels = static_cast<std::int32_t>(asked.aggressive_levels),
          .precision = asked.precision};
}

bool expects_to_find_multigrid(const multigrid::HierarchyStore& store, Mat pmat,
                               const Options& options) {
  SignedEntries entries;
  entries.take(pmat);
  return multigrid::expects_to_find(store, *entries.matrix(), near_nullspace_of(pmat),
                                    with_block_size_of(pmat, options));
}

void register_multigrid() { petsc_check(PCRegister(kTriremeMultigrid, multigrid_create)); }

MultigridPc* multigrid_of(PC pc) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), kTriremeMultigrid, &same));
  return same == PETSC_TRUE ? &data(pc) : nullptr;
}

}  // namespace trireme
