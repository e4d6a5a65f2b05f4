// SPDX-License-Identifier: BSD-3-Clause
// The resident engine as PETSc types: the KSP types trireme_cg, trireme_bicgstab, ... (one for each
// name of solvers/methods/list.hpp), and PC types. After register_resident_types(), -ksp_type
// trireme_cg works like any other type.
//
// The types keep PETSc's conventions for tolerances, KSPSetNormType, residual history, monitors,
// initial guess, convergence tests, KSPView and KSPConvergedReason. The differences are:
//   norms            trireme_cg tests the unpreconditioned norm (the default), the preconditioned
//                    norm, the natural norm or none; trireme_minres tests the unpreconditioned norm
//                    (the default), the natural norm or none; trireme_bicgstab, which preconditions
//                    from the right, tests the unpreconditioned norm (the default) or none
//   row sizes        where the sizes of rows differ by 1000 or more and no norm type was set, the
//                    norm of b - A x with each row divided by its size must be small too, in
//                    relation to b so divided; see solvers::RowTest
//   preconditioners  none, jacobi, pbjacobi (up to 32 rows), vpbjacobi, the types of pc_types.hpp
//                    and trireme_mg are those of the loop; where any other PC is set, or a null
//                    space is attached to Amat, the loop runs on the host and calls PCApply
//   other requests   what the loop lacks (singular values, transposed solves, ...), a loop of PETSc
//                    does within the KSP; see choose_loop()
//   convergence      b - A x must confirm a claim of PETSc's default test; otherwise the loop goes
//                    on from b - A x. Stagnation is KSP_DIVERGED_BREAKDOWN, see KspFacts
//   scale            norms are roots of sums of squares, so that the caller must scale a b near
//                    1e-160 or 1e160, as the program solve does. A claim that rests on squares that
//                    underflowed to 0 is KSP_DIVERGED_BREAKDOWN
//   definiteness     trireme_cg follows PETSc's CG: a p.Ap that vanishes or changes its sign is
//                    KSP_DIVERGED_INDEFINITE_MAT. A negative definite matrix, for which p.Ap is
//                    always negative, is solved. trireme_minres takes PCJACOBI of the
//                    magnitudes of the diagonal, because it needs a positive definite one
//   options          -ksp_trireme_variant <auto|measured|classic|single_reduction> (trireme_cg)
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "petsc/pc/pc_types.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/stopped_solve.hpp"
#include "solvers/variant_choice.hpp"

namespace trireme {

// Registers the KSP and PC types with PETSc. Must be called after PetscInitialize; further calls do
// no harm.
void register_resident_types();

// The KSP type of a method, such as "trireme_cg". That of a method for blocks is the method of its
// columns where KSPSolve solves for one vector.
std::string ksp_type_of(const solvers::MethodInfo& info);
std::string ksp_type_of(solvers::Method method);
// The method of a KSP type of Trireme; none for any other type.
std::optional<solvers::NamedMethod> resident_method(std::string_view ksp_type);

// Does the preparations that the first KSPSolve of a resident type would do before its loop: the
// row order, the preconditioner, the solver's memory. Does nothing for another type, and for a KSP
// whose next loop is not ours. Collective.
void ksp_prepare(KSP ksp);

// Tells a PC that is given to loops as an operation (pc/given_pc.hpp) whether the loop of the KSP
// will run on a GPU, ahead of its set-up. Does nothing for another PC, and for a KSP without
// operators. Collective.
void ksp_place_preconditioner(KSP ksp);

// Gives the new values of the matrix to the preconditioner of a KSP that is prepared, where a GPU
// can do that by itself. PCSetReusePreconditioner must be true in the next ksp_prepare() then.
// False: the preconditioner is as it was. Collective.
bool ksp_renew_on_device(KSP ksp);

// What runs the loop of a KSP of a resident type that is prepared: "host", "cuda graph", ... Empty
// for another type.
std::string ksp_executor(KSP ksp);

// Has timings choose the variant of CG on several CPU ranks; an option overrides it. Does nothing
// for other methods, and for a KSP of another type.
void ksp_measure_variant(KSP ksp);

// Sets the iterations per cycle of a method that restarts, of PETSc's own ones too; an option
// overrides it. Does nothing for other methods.
void ksp_set_restart(KSP ksp, std::int64_t restart);

// Sets what the unpreconditioned norm is made of, whatever norm type was set. Does nothing for a
// KSP of another type.
void ksp_set_row_test(KSP ksp, solvers::RowTest rows);

// From now on, a guess whose residual is larger than that of x = 0 is not used, unless rtol is
// relative to the first residual; KspFacts has its norm. PETSc's own solvers use every guess that
// they are given, as this KSP does without the call. Does nothing for a KSP of another type, and in
// a solve of a block.
void ksp_drop_worse_guesses(KSP ksp);

// The next KSPSolve(), which is told of an initial guess, begins at x = 0 and does not read x.
// PETSc sets x to zero by one thread where it knows of no guess, which takes three times as long as
// the copy of b to a GPU. Does nothing for a KSP of another type.
void ksp_ignore_guess(KSP ksp);

// Sets a function that is polled in every iteration on every rank. If it returns true on any rank,
// the solve ends with the solution so far: the reason is KSP_DIVERGED_USER (before PETSc 3.26
// KSP_DIVERGED_ITS), and KspFacts::stopped is true. Does nothing for a KSP of another type.
void ksp_set_stop(KSP ksp, std::function<bool()> stop);

// The data of the last solve that another KSP of this type, for the same matrix and preconditioner,
// needs beside x to go on. Valid if the solve was stopped or reached the iteration limit. Throws
// Error{internal} for a KSP of another type.
solvers::StoppedSolve ksp_stopped_solve(KSP ksp);
// The next KSPSolve, and no later one, goes on from `stopped` and from the x that it is given. It
// counts the earlier iterations, up to the same limit, and keeps the reference norm of rtol. Throws
// Error{internal} for a KSP of another type.
void ksp_go_on(KSP ksp, solvers::StoppedSolve stopped);

// Vectors in device memory, in the caller's order of rows.
struct DeviceVectors {
  DeviceSpan<const double> b;
  DeviceSpan<double> x;  // the initial guess, and the solution
  StreamRef producer;    // the work that it holds so far is done before the solve
};
// KSPSolve takes these vectors in place of the numbers of its Vecs, which it neither reads nor
// writes, until the call with none. A norm so small that its squares may have vanished is the
// exception: both Vecs then receive the numbers. Throws Error{internal} unless
// ksp_takes_device_vectors().
void ksp_use_device_vectors(KSP ksp, const std::optional<DeviceVectors>& vectors);
// Whether the loop of a KSP that is prepared runs on a device, and no option makes KSPSolve print b
// or x.
bool ksp_takes_device_vectors(KSP ksp);

// The executor of small systems on a GPU.
inline constexpr const char* kPersistentExecutor = "cuda persistent kernel";

// Facts about the last solve by a resident type that KSP has no place for.
struct KspFacts {
  std::string executor;  // "host", "cuda graph", "cuda persistent kernel", ...
  std::string variant;   // "classic", "single_reduction", "pipelined"
  int replacements = 0;  // how often b - A x replaced the recurrence's residual
  bool mixed = false;    // mixed precision: the products of the loop were inexact
  // The iteration from which products were in FP64, because mixed precision did not lead to
  // convergence; -1: none.
  std::int64_t exact_from = -1;
  bool stopped = false;    // ended by the function of ksp_set_stop()
  bool stagnated = false;  // b - A x does not become smaller: x is as good as the arithmetic allows
  // The times that decided between the variants; none: the variant was not chosen by measurement.
  std::optional<solvers::VariantTimes> variant_times;
  double dropped_norm = -1;  // of b - A x0 where ksp_drop_worse_guesses() was heeded; negative: not
  double renewed_seconds = 0;    // of a renewal of the preconditioner within the solve; 0: none
  bool vectors_in_fp32 = false;  // where `mixed`: those of the loop, and not the values alone
};
// The facts of the last solve; none for a KSP of another type.
std::optional<KspFacts> ksp_facts(KSP ksp);
// Why CG ran in its variant; empty where the variant was not chosen by measurement.
std::string why_variant(const KspFacts& facts);

}  // namespace trireme
