// SPDX-License-Identifier: BSD-3-Clause
// A second KSP works on the PC and the vectors of the first one, and tells it about each iteration.
#include "petsc/ksp_fallback.hpp"

#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// PETSc prints nothing and ends nothing while an object of this class lives.
class QuietErrors {
 public:
  QuietErrors() { petsc_check(PetscPushErrorHandler(petsc_return_error, nullptr)); }
  ~QuietErrors() { static_cast<void>(PetscPopErrorHandler()); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
};

void choose_norm(KSP ksp, KSPNormType wanted, bool right_preconditioned) {
  if (right_preconditioned) petsc_check(KSPSetPCSide(ksp, PC_RIGHT));
  petsc_check(KSPSetNormType(ksp, wanted));
  KSPNormType norm = KSP_NORM_DEFAULT;
  {
    const QuietErrors quiet;
    if (KSPGetNormType(ksp, &norm) == kPetscSuccess) return;
  }
  petsc_check(KSPSetNormType(ksp, KSP_NORM_DEFAULT));
}

PetscErrorCode tell(KSP ksp, PetscInt, PetscReal, void* context) {
  auto* const told = static_cast<KSP>(context);
  return petsc_guard(comm_of(ksp), [&] { report(told, progress_of(ksp)); });
}

// The verdict of the user's own convergence test, which knows the KSP that it was given to.
PetscErrorCode ask(KSP ksp, PetscInt, PetscReal, KSPConvergedReason* reason, void* context) {
  auto* const asked = static_cast<KSP>(context);
  return petsc_guard(comm_of(ksp), [&] {
    const KspProgress here = progress_of(ksp);
    set_result(asked, here.iteration, here.norm, KSP_CONVERGED_ITERATING);
    *reason = ask_convergence_test(asked);
  });
}

}  // namespace

KSPType solve_by_petsc(KSP ksp, solvers::Method method) {
  const solvers::MethodInfo info = solvers::info_of(method);
  const KspRequests asked = requests_of(ksp);
  PC pc = nullptr;
  PetscReal rtol = 0, atol = 0, divtol = 0;
  PetscInt max_iterations = 0;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(KSPGetTolerances(ksp, &rtol, &atol, &divtol, &max_iterations));

  KspHandle other;
  petsc_check(KSPCreate(comm_of(ksp), other.put()));
  petsc_check(KSPSetType(other, info.petsc_name.data()));
  petsc_check(KSPSetPC(other, pc));
  petsc_check(KSPSetTolerances(other, rtol, atol, divtol, max_iterations));
  petsc_check(KSPSetErrorIfNotConverged(other, PETSC_FALSE));
  petsc_check(KSPSetInitialGuessNonzero(other, asked.zero_guess ? PETSC_FALSE : PETSC_TRUE));
  choose_norm(other, asked.norm, info.right_preconditioned);
  take_tests(other, asked);
  if (asked.own_test) petsc_check(KSPSetConvergenceTest(other, ask, ksp, nullptr));
  petsc_check(KSPMonitorSet(other, tell, ksp, nullptr));
  petsc_check(KSPSolve(other, right_hand_side_of(ksp), solution_of(ksp)));

  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc_check(KSPGetConvergedReason(other, &reason));
  const KspProgress end = progress_of(other);
  set_result(ksp, end.iteration, end.norm, reason);
  return info.petsc_name.data();
}

}  // namespace trireme
