// SPDX-License-Identifier: BSD-3-Clause
// The resident engine as PETSc types: KSP trireme_cg, trireme_bicgstab, trireme_minres (one for each
// method of solvers/methods/list.hpp), and PC types for them. After register_resident_types(),
// -ksp_type trireme_cg works as any other type does.
//
// What they keep of PETSc's conventions: tolerances, KSPSetNormType, residual history, monitors,
// initial guess, convergence tests, KSPView, KSPConvergedReason. What differs:
//   norms            trireme_cg: unpreconditioned (default), preconditioned, natural, none;
//                    trireme_minres: unpreconditioned (default), natural, none;
//                    trireme_bicgstab: unpreconditioned (default) and none, preconditioned from the
//                    right
//   preconditioners  none, jacobi, pbjacobi (up to 32 rows), vpbjacobi and the types of
//                    resident_pc.hpp; any other is refused
//   convergence      a claim of PETSc's default test is checked against b - A x, and the loop goes
//                    on from there if it fails; stagnation is KSP_DIVERGED_BREAKDOWN, see
//                    ksp_facts()
//   scale            norms are roots of sums of squares: the caller scales a b near 1e-160 or
//                    1e160, as solve does. A claim that rests on squares that vanished is
//                    KSP_DIVERGED_BREAKDOWN
//   definiteness     as PETSc's CG: p.Ap that vanishes or changes its sign is
//                    KSP_DIVERGED_INDEFINITE_MAT; a negative definite matrix, where it is negative
//                    throughout, is solved
//   options          -ksp_trireme_variant <auto|classic|single_reduction> (cg); any -ksp_ option
//   that neither
//                    KSP nor these types read is an error
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "petsc/pc_types.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/stopped_solve.hpp"

namespace trireme {

// After PetscInitialize, as often as one likes.
void register_resident_types();

// "trireme_cg"
std::string ksp_type_of(solvers::Method method);
// The method of a KSP type of ours; none for any other type.
std::optional<solvers::Method> resident_method(std::string_view ksp_type);

// The KSP type for a case's method ("cg", "bicgstab", "minres", PETSc's name of one of them, or the
// name of a type of ours); empty for a method that only PETSc has.
std::string resident_ksp_type(std::string_view method);

// Why engine auto must take PETSc's, in words that end "...: engine petsc"; empty: resident serves.
std::string why_not_resident(std::string_view method, std::string_view preconditioner);
// The same of a KSP of a resident type with its operators, by all that options and calls asked of
// it so far; after KSPSetFromOptions, where one is called. Collective.
std::string why_not_resident(KSP ksp);
// The -ksp_ options, of those that a KSP reads ahead of its solve, that none has read: "-ksp_a".
std::vector<std::string> unread_ksp_options(KSP ksp);

// Does now what the first KSPSolve by a resident type would do before its loop: the row order, the
// preconditioner, the solver's memory. What is refused is left to KSPSolve to say. Collective.
void ksp_prepare(KSP ksp);

// `stop` is polled every iteration on every rank; true on any rank ends the solve there, with the
// solution so far: KSP_DIVERGED_USER (before PETSc 3.26: KSP_DIVERGED_ITS) and ksp_facts().stopped.
void ksp_set_stop(KSP ksp, std::function<bool()> stop);

// Of the last solve by a resident type, where that was stopped or came to the iteration limit: what
// another KSP of this type, for the same matrix and preconditioner, needs beside x to go on.
solvers::StoppedSolve ksp_stopped_solve(KSP ksp);
// The next KSPSolve, and only that, goes on so from the x that it is given: iterations are counted
// on, up to the same limit, and the norm that rtol is a part of stays what it was.
void ksp_go_on(KSP ksp, solvers::StoppedSolve stopped);

// What KSP cannot say of the last solve by a resident type.
struct KspFacts {
  std::string executor;  // "host", "cuda graph", "cuda persistent kernel"
  std::string variant;   // "classic", "single_reduction"
  int replacements = 0;  // of the recurrence residual by b - A x
  bool mixed = false;    // the products of the loop were inexact: mixed precision
  // Mixed precision that led nowhere: the iteration from which on products were FP64, or -1.
  std::int64_t exact_from = -1;
  bool stopped = false;
  bool stagnated = false;  // the true residual falls no further: beyond what the arithmetic allows
};
// Nothing for a KSP of another type.
std::optional<KspFacts> ksp_facts(KSP ksp);

}  // namespace trireme
