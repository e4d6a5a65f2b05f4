// SPDX-License-Identifier: BSD-3-Clause
// The figures of "multigrid" and "preconditioner_choice" of a run in report.json.
#include "report/figures.hpp"

namespace trireme::json {

template <>
const Figures<LevelOutcome>& figures() {
  static const Figures<LevelOutcome> table = {
      {"rows", "1", "of all ranks", &LevelOutcome::rows},
      {"nnz", "1", "of all ranks", &LevelOutcome::nnz},
      {"prolongator", "",
       "how that to this level was made: `smoothed`; `thinned 1/8`, where parts of a row below 1/8 "
       "of its largest part were left out, because the level [would have been too "
       "full](running.md#multigrid); `plain`; `plain, for it would fill`, where thinning did not "
       "suffice; null on the finest level",
       known(&LevelOutcome::prolongator)},
      {"replicated", "", "every rank holds the whole level", &LevelOutcome::replicated},
      {"kernel", "",
       "that multiplies by the level's matrix; `dense inverse` where the level is solved directly",
       &LevelOutcome::kernel},
      {"precision", "", "of the stored values, where `mixed` is FP32", &LevelOutcome::precision},
      {"product_us", "us", "one product, on the slowest rank; 0: not measured",
       &LevelOutcome::product_us, nan_is_null()},
      {"spectral_radius", "1", "of D^-1 A, estimated; 0: the smoother does not need it",
       &LevelOutcome::spectral_radius}};
  return table;
}

template <>
const Figures<MultigridSetUp>& figures() {
  static const Figures<MultigridSetUp> table = {
      {"strength", "s", "strong connections of all levels", &MultigridSetUp::strength},
      {"aggregation", "s", "aggregates of all levels", &MultigridSetUp::aggregation},
      {"prolongator", "s", "the prolongators of all levels, with their smoothing",
       &MultigridSetUp::prolongator},
      {"products", "s", "the products P^T A P", &MultigridSetUp::products},
      {"distribution", "s", "bringing coarse matrices to the ranks", &MultigridSetUp::distribution},
      {"kernels", "s", "the layouts of all levels, and the measurement that chooses their kernels",
       &MultigridSetUp::kernels},
      {"smoothers", "s", "diagonals and spectral radii", &MultigridSetUp::smoothers},
      {"coarsest", "s", "the dense inverse", &MultigridSetUp::coarsest},
      {"read", "s", "looking into the [cache](caching.md), and reading a hierarchy that is there",
       &MultigridSetUp::read},
      {"total", "s", "all of the set-up; what no part names is the difference",
       &MultigridSetUp::total}};
  return table;
}

template <>
const Figures<ReadHierarchy>& figures() {
  static const Figures<ReadHierarchy> table = {
      {"building_seconds", "s", "what an earlier run took to build it",
       &ReadHierarchy::building_seconds},
      {"saved_seconds", "s", "what reading has saved of these", &ReadHierarchy::saved_seconds},
      {"bytes", "B", "of all ranks", &ReadHierarchy::bytes}};
  return table;
}

template <>
const Figures<KeptHierarchy>& figures() {
  static const Figures<KeptHierarchy> table = {
      {"seconds", "s", "that this took, on the slowest rank", &KeptHierarchy::seconds},
      {"bytes", "B", "of all ranks", &KeptHierarchy::bytes}};
  return table;
}

template <>
const Figures<MultigridOutcome>& figures() {
  static const Figures<MultigridOutcome> table = {
      {"levels", "", "the finest one first", &MultigridOutcome::levels},
      {"operator_complexity", "1", "nonzeros of all levels, over those of the finest one",
       &MultigridOutcome::operator_complexity},
      {"grid_complexity", "1", "rows of all levels, over those of the finest one",
       &MultigridOutcome::grid_complexity},
      {"cycle", "", "in words", &MultigridOutcome::cycle},
      {"smoother", "", "in words", &MultigridOutcome::smoother},
      {"bytes", "B", "of all ranks, without the finest matrix", &MultigridOutcome::bytes},
      {"set_up_seconds", "s", "of the first set-up, on the slowest rank",
       &MultigridOutcome::set_up},
      {"remark", "", "why the coarsening ended early; empty: it did not",
       &MultigridOutcome::remark},
      {"read_from_cache", "", "the hierarchy of an earlier run; null: the hierarchy was built",
       &MultigridOutcome::read},
      {"kept_in_cache", "", "what keeping the hierarchy for later runs took; null: it was not kept",
       &MultigridOutcome::kept}};
  return table;
}

template <>
const Figures<PreconditionerCandidate>& figures() {
  static const Figures<PreconditionerCandidate> table = {
      {"name", "", "as in a case", &PreconditionerCandidate::name, not_empty()},
      {"chosen", "", "whether it won", &PreconditionerCandidate::chosen},
      {"measured", "",
       "it did iterations; else the figures are predicted from those of the first one",
       &PreconditionerCandidate::measured},
      {"set_up_seconds", "s", "its set-up; null: not known",
       &PreconditionerCandidate::set_up_seconds},
      {"iteration_us", "us", "one iteration; null: not known",
       &PreconditionerCandidate::iteration_us},
      {"solve_seconds", "s", "a whole solve, without the set-up; null: not known",
       &PreconditionerCandidate::solve_seconds},
      {"pays_after", "1",
       "after how many solves the set-up has paid against the one that the run began with; null: "
       "never, or not known",
       &PreconditionerCandidate::pays_after},
      {"verdict", "", "why it lost, or why it was chosen", &PreconditionerCandidate::verdict}};
  return table;
}

template <>
const Figures<PreconditionerChoice>& figures() {
  static const Figures<PreconditionerChoice> table = {
      {"began_with", "", "the preconditioner of the first iterations",
       &PreconditionerChoice::began_with},
      {"solves", "1", "over which the choice is to pay", &PreconditionerChoice::solves,
       at_least_one()},
      {"changed_at", "1",
       "the iteration of the first solve at which the chosen one took over; null: not within the "
       "first solve",
       &PreconditionerChoice::changed_at},
      {"candidates", "", "the chosen one first", &PreconditionerChoice::candidates}};
  return table;
}

}  // namespace trireme::json
