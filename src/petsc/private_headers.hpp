// SPDX-License-Identifier: BSD-3-Clause
// What a KSP or PC type of one's own needs and PETSc's public headers do not offer.
// private_headers.cpp is the only file that reads the private ones.
#pragma once

#include <petscksp.h>

#include "petsc/shim.hpp"

namespace trireme {

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

// The functions of a KSP type; `data` is theirs, and `destroy` frees it.
struct KspMethods {
  PetscErrorCode (*solve)(KSP);
  PetscErrorCode (*set_from_options)(KSP, OptionItems);
  PetscErrorCode (*build_solution)(KSP, Vec, Vec*);
  PetscErrorCode (*view)(KSP, PetscViewer);
  PetscErrorCode (*reset)(KSP);
  PetscErrorCode (*destroy)(KSP);
};
void install(KSP ksp, const KspMethods& methods, void* data);
void* data_of(KSP ksp);
void forget_data(KSP ksp);

struct PcMethods {
  PetscErrorCode (*set_from_options)(PC, OptionItems);
  PetscErrorCode (*apply)(PC, Vec, Vec);
  PetscErrorCode (*view)(PC, PetscViewer);
  PetscErrorCode (*destroy)(PC);
};
void install(PC pc, const PcMethods& methods, void* data);
void* data_of(PC pc);
void forget_data(PC pc);

// What was asked of a KSP beside its tolerances. Members that a release of PETSc lacks are false.
struct KspRequests {
  KSPNormType norm = KSP_NORM_DEFAULT;
  PetscInt untested_iterations = -1;  // KSPSetCheckNormIteration
  PetscInt min_iterations = 0;
  bool zero_guess = true;
  bool own_test = false;  // neither KSPConvergedDefault, whose three switches follow, nor ...Skip
  bool relative_to_initial_residual = false;
  bool relative_to_smaller = false;
  bool limit_is_success = false;
  bool eigenvalues = false;
  bool lagged_norm = false;
  bool transposed = false;
  bool error_history = false;
  bool diagonal_scaling = false;
  bool error_if_not_converged = false;
};
KspRequests requests_of(KSP ksp);
Vec solution_of(KSP ksp);
Vec right_hand_side_of(KSP ksp);

// Where the loop is: iteration, its norm, the norm and the target that the test compares with.
struct KspProgress {
  PetscInt iteration;
  PetscReal norm, reference, target;
};
PetscObjectState state_of(Mat mat);  // counts its changes
void note_change(Mat mat);           // counts one more
void note_change(Vec vec);           // made behind PETSc's back
// The reason of a solve that was told to stop.
#if PETSC_VERSION_LT(3, 26, 0)
inline constexpr KSPConvergedReason kKspStopped = KSP_DIVERGED_ITS;
#else
inline constexpr KSPConvergedReason kKspStopped = KSP_DIVERGED_USER;
#endif
// Tells PETSc, its history and its monitors.
void report(KSP ksp, const KspProgress& progress);
// Asks the convergence test that the user has set.
KSPConvergedReason ask_convergence_test(KSP ksp);
// Puts another test in its place and returns the one that was there.
struct ConvergenceTest {
  PetscErrorCode (*test)(KSP, PetscInt, PetscReal, KSPConvergedReason*, void*);
  void* context;
};
ConvergenceTest exchange_convergence_test(KSP ksp, const ConvergenceTest& other);
void set_result(KSP ksp, PetscInt iterations, PetscReal norm, KSPConvergedReason reason);

}  // namespace trireme
