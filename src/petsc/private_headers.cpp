// SPDX-License-Identifier: BSD-3-Clause
// The only file that includes PETSc's private headers.
#include "petsc/private_headers.hpp"

#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#include <utility>

namespace trireme {
namespace {

// Members that not every release of PETSc has.
template <class Ksp>
PetscInt min_iterations(Ksp ksp) {
  if constexpr (requires { ksp->min_it; }) return ksp->min_it;
  return 0;
}
template <class Ksp>
bool scales_diagonally(Ksp ksp) {
  if constexpr (requires { ksp->dscale; }) return ksp->dscale;
  return false;
}

}  // namespace

void install(KSP ksp, const KspMethods& methods, void* data) {
  ksp->data = data;
  ksp->ops->setup = methods.set_up;
  ksp->ops->solve = methods.solve;
  ksp->ops->matsolve = methods.mat_solve;
  ksp->ops->setfromoptions = methods.set_from_options;
  ksp->ops->buildsolution = methods.build_solution;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->view = methods.view;
  ksp->ops->reset = methods.reset;
  ksp->ops->destroy = methods.destroy;
  ksp->ops->computeextremesingularvalues = methods.extreme_singular_values;
  ksp->ops->computeeigenvalues = methods.eigenvalues;
}
void* data_of(KSP ksp) { return ksp->data; }
void forget_data(KSP ksp) { ksp->data = nullptr; }

void exchange_types(KSP one, KSP other) {
  std::swap(*one->ops, *other->ops);
  std::swap(one->data, other->data);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // within PetscObjectOptionsBegin
PetscErrorCode run_type(KSP ksp, bool read_options) {
  PetscFunctionBegin;
  if (read_options && ksp->ops->setfromoptions) {
    PetscObjectOptionsBegin(object_of(ksp));
    PetscCall((*ksp->ops->setfromoptions)(ksp, PetscOptionsObject));
    PetscOptionsEnd();
  }
  PetscCall((*ksp->ops->setup)(ksp));
  PetscCall((*ksp->ops->solve)(ksp));
  PetscFunctionReturn(kPetscSuccess);
}
#pragma GCC diagnostic pop
void add_norms_of(KSP ksp, KSP other) {
  for (int norm = 0; norm < KSP_NORM_MAX; ++norm)
    for (int side = 0; side < PC_SIDE_MAX; ++side)
      if (ksp->normsupporttable[norm][side] == 0)
        ksp->normsupporttable[norm][side] = other->normsupporttable[norm][side];
}
NormAndSide chosen_norm_of(KSP ksp) { return {ksp->normtype_set, ksp->pc_side_set}; }
NormAndSide exchange_norm(KSP ksp, const NormAndSide& other) {
  return {std::exchange(ksp->normtype, other.norm), std::exchange(ksp->pc_side, other.side)};
}

void install(PC pc, const PcMethods& methods, void* data) {
  pc->data = data;
  pc->ops->setfromoptions = methods.set_from_options;
  pc->ops->apply = methods.apply;
  pc->ops->view = methods.view;
  pc->ops->destroy = methods.destroy;
  pc->ops->setup = methods.set_up;
  pc->ops->reset = methods.reset;
  pc->ops->applytranspose = methods.apply_transpose;
}
void ask_for_set_up(PC pc) { pc->setupcalled = PETSC_FALSE; }
void* data_of(PC pc) { return pc->data; }
void forget_data(PC pc) { pc->data = nullptr; }

KspRequests requests_of(KSP ksp) {
  KspRequests asked;
  asked.norm = ksp->normtype;
  asked.norm_is_chosen = ksp->normtype_set != KSP_NORM_DEFAULT;
  asked.untested_iterations = ksp->chknorm;
  asked.min_iterations = min_iterations(ksp);
  asked.zero_guess = ksp->guess_zero;
  if (ksp->converged == KSPConvergedSkip) {
    asked.limit_is_success = true;
    asked.untested_iterations = ksp->max_it;
  } else if (ksp->converged == KSPConvergedDefault) {
    const auto& context = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    asked.relative_to_initial_residual = context.initialrtol;
    asked.relative_to_smaller = context.mininitialrtol;
    asked.limit_is_success = context.convmaxits;
  } else {
    asked.own_test = true;
  }
  asked.eigenvalues = ksp->calc_sings || ksp->calc_ritz;
  asked.lagged_norm = ksp->lagnorm;
  asked.transposed = ksp->transpose_solve;
  asked.error_history = ksp->err_hist_max > 0 && ksp->err_hist;
  asked.diagonal_scaling = scales_diagonally(ksp);
  asked.error_if_not_converged = ksp->errorifnotconverged;
  return asked;
}
Vec solution_of(KSP ksp) { return ksp->vec_sol; }
Vec right_hand_side_of(KSP ksp) { return ksp->vec_rhs; }
KspVectors exchange_vectors(KSP ksp, const KspVectors& other) {
  return {std::exchange(ksp->vec_rhs, other.right_hand_side),
          std::exchange(ksp->vec_sol, other.solution)};
}

std::vector<std::string> composed_functions_of(PetscObject object) {
  const char** names = nullptr;
  int count = 0;
  petsc_check(PetscFunctionListGet(object->qlist, &names, &count));
  std::vector<std::string> result;
  for (int k = 0; k < count; ++k)
    if (names[k]) result.emplace_back(names[k]);  // the last one is null in some releases
  petsc_check(PetscFree(names));
  return result;
}

TransposeSymbolic exchange_transpose_symbolic(Mat mat, TransposeSymbolic other) {
  return std::exchange(mat->ops->transposesymbolic, other);
}

void set_factor_error(Mat factors, MatFactorError error) { factors->factorerrortype = error; }
PetscObjectState state_of(PetscObject object) {
  PetscObjectState state = 0;
  petsc_check(PetscObjectStateGet(object, &state));
  return state;
}
void note_change(Mat mat) {
  petsc_check(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(mat)));
}
void note_change(Vec vec) {
  petsc_check(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(vec)));
}

void begin_history(KSP ksp) {
  if (ksp->res_hist_reset) ksp->res_hist_len = 0;
}

void report(KSP ksp, const KspProgress& progress) {
  ksp->its = progress.iteration;
  ksp->rnorm = progress.norm;
  ksp->rnorm0 = progress.reference;
  ksp->ttol = progress.target;
  petsc_check(KSPLogResidualHistory(ksp, progress.norm));
  petsc_check(KSPMonitor(ksp, progress.iteration, progress.norm));
}

KspProgress progress_of(KSP ksp) { return {ksp->its, ksp->rnorm, ksp->rnorm0, ksp->ttol}; }

KSPConvergedReason ask_convergence_test(KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc_check((*ksp->converged)(ksp, ksp->its, ksp->rnorm, &reason, ksp->cnvP));
  return reason;
}

ConvergenceTest exchange_convergence_test(KSP ksp, const ConvergenceTest& other) {
  return {std::exchange(ksp->converged, other.test), std::exchange(ksp->cnvP, other.context)};
}

void set_result(KSP ksp, PetscInt iterations, PetscReal norm, KSPConvergedReason reason) {
  ksp->its = iterations;
  ksp->rnorm = norm;
  ksp->reason = reason;
}

}  // namespace trireme
