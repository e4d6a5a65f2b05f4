// SPDX-License-Identifier: BSD-3-Clause
// What a KSP type or a PC type needs beyond PETSc's public headers.
// private_headers.cpp is the only file that includes PETSc's private headers.
#pragma once

#include <petscksp.h>

#include <string>
#include <vector>

#include "petsc/shim.hpp"

namespace trireme {

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

// The functions of a KSP type. `data` is what they work with, and `destroy` frees it.
struct KspMethods {
  PetscErrorCode (*set_up)(KSP);  // the first one, ahead of PCSetUp
  PetscErrorCode (*solve)(KSP);
  PetscErrorCode (*mat_solve)(KSP, Mat, Mat);
  PetscErrorCode (*set_from_options)(KSP, OptionItems);
  PetscErrorCode (*build_solution)(KSP, Vec, Vec*);
  PetscErrorCode (*view)(KSP, PetscViewer);
  PetscErrorCode (*reset)(KSP);
  PetscErrorCode (*destroy)(KSP);
  PetscErrorCode (*extreme_singular_values)(KSP, PetscReal*, PetscReal*);
  PetscErrorCode (*eigenvalues)(KSP, PetscInt, PetscReal*, PetscReal*, PetscInt*);
};
void install(KSP ksp, const KspMethods& methods, void* data);
void* data_of(KSP ksp);
void forget_data(KSP ksp);

// Exchanges what the types of two KSPs consist of: their functions and their data.
void exchange_types(KSP one, KSP other);
// The set-up and the solve of the type that `ksp` has now, after its options where they are to be
// read.
PetscErrorCode run_type(KSP ksp, bool read_options);
// Adds the norms that `other` supports to those of `ksp`, as low in rank as PETSc's types have
// them.
void add_norms_of(KSP ksp, KSP other);
struct NormAndSide {
  KSPNormType norm = KSP_NORM_DEFAULT;
  PCSide side = PC_SIDE_DEFAULT;
};
// What the user has set.
NormAndSide chosen_norm_of(KSP ksp);
// Sets what the KSP uses until its next set-up, and returns the former one.
NormAndSide exchange_norm(KSP ksp, const NormAndSide& other);

struct PcMethods {
  PetscErrorCode (*set_from_options)(PC, OptionItems);
  PetscErrorCode (*apply)(PC, Vec, Vec);
  PetscErrorCode (*view)(PC, PetscViewer);
  PetscErrorCode (*destroy)(PC);
  PetscErrorCode (*set_up)(PC) = nullptr;                     // null: there is nothing to set up
  PetscErrorCode (*reset)(PC) = nullptr;                      // null: likewise to reset
  PetscErrorCode (*apply_transpose)(PC, Vec, Vec) = nullptr;  // null: PETSc refuses it
};
void install(PC pc, const PcMethods& methods, void* data);
// The next PCSetUp sets the PC up, even where its matrix has not changed.
void ask_for_set_up(PC pc);
void* data_of(PC pc);
void forget_data(PC pc);

// What a user asked of a KSP besides its tolerances. A member for which a release of PETSc has no
// counterpart is false.
struct KspRequests {
  KSPNormType norm = KSP_NORM_DEFAULT;
  bool norm_is_chosen = false;        // KSPSetNormType was called, or -ksp_norm_type is set
  PetscInt untested_iterations = -1;  // KSPSetCheckNormIteration
  PetscInt min_iterations = 0;
  bool zero_guess = true;
  // The convergence test is neither KSPConvergedDefault nor KSPConvergedSkip.
  bool own_test = false;
  // The three switches of KSPConvergedDefault.
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
// Sets the vectors of the KSP, of which it does not become an owner, and returns the former ones.
struct KspVectors {
  Vec right_hand_side, solution;
};
KspVectors exchange_vectors(KSP ksp, const KspVectors& other);

// Where the loop is: the iteration and its residual norm, the norm to which rtol is relative, and
// the target that the norm must reach.
struct KspProgress {
  PetscInt iteration;
  PetscReal norm, reference, target;
};
KspProgress progress_of(KSP ksp);
// The names of all functions that are composed with the object (PetscObjectComposeFunction).
std::vector<std::string> composed_functions_of(PetscObject object);
// Sets the function that makes the pattern of the transpose, for which MatOperation has no name,
// and returns the former one.
using TransposeSymbolic = PetscErrorCode (*)(Mat, Mat*);
TransposeSymbolic exchange_transpose_symbolic(Mat mat, TransposeSymbolic other);
// What MatFactorGetError gives.
void set_factor_error(Mat factors, MatFactorError error);
// PETSc's count of the changes of an object.
PetscObjectState state_of(PetscObject object);
inline PetscObjectState state_of(Mat mat) { return state_of(object_of(mat)); }
// Counts a change that was made without PETSc.
void note_change(Mat mat);
void note_change(Vec vec);
// The reason of a solve that was told to stop.
#if PETSC_VERSION_LT(3, 26, 0)
inline constexpr KSPConvergedReason kKspStopped = KSP_DIVERGED_ITS;
#else
inline constexpr KSPConvergedReason kKspStopped = KSP_DIVERGED_USER;
#endif
// Begins the residual history anew, where KSPSetResidualHistory asked for that. KSPSolve does the
// same, and KSPMatSolve does not.
void begin_history(KSP ksp);
// Hands the progress to PETSc, its residual history and its monitors.
void report(KSP ksp, const KspProgress& progress);
// Calls the convergence test of the KSP.
KSPConvergedReason ask_convergence_test(KSP ksp);
// Sets another convergence test and returns the former one.
struct ConvergenceTest {
  PetscErrorCode (*test)(KSP, PetscInt, PetscReal, KSPConvergedReason*, void*);
  void* context;
};
ConvergenceTest exchange_convergence_test(KSP ksp, const ConvergenceTest& other);
void set_result(KSP ksp, PetscInt iterations, PetscReal norm, KSPConvergedReason reason);

}  // namespace trireme
