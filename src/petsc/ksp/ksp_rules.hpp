// SPDX-License-Identifier: BSD-3-Clause
// What a solve by the resident engine takes from its KSP, and its result in the terms of PETSc.
#pragma once

#include <petscksp.h>

#include <string>

#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_engine.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/private_headers.hpp"
#include "solvers/solver.hpp"

namespace trireme {

// "auto", "classic", "single_reduction", "pipelined": by the number of a solvers::Variant.
extern const char* const kVariantNames[5];

// For the loop that was chosen, which is one of ours.
LoopInputs inputs_of(KSP ksp, const LoopChoice& choice);
// Throws Error{usage} where no loop serves.
void require_loop(KSP ksp, const LoopChoice& choice);
// Prints a line about how the program's KSP works, once in the process, on one rank.
void say_once(MPI_Comm comm, const std::string& line);

solvers::Tolerances tolerances_of(KSP ksp, const KspRequests& asked);
// What the unpreconditioned norm of a KSP of a resident type is made of. PETSc's default norm is
// the preconditioned one, which heeds the sizes of rows; ours does where the user has chosen no
// norm.
solvers::RowTest row_test_of(KSP ksp, const KspRequests& asked);

// The reason of a solve of A x = b by `rule` that ended with `result`. A claim of convergence that
// rests on squares that underflowed is KSP_DIVERGED_BREAKDOWN. Collective.
KSPConvergedReason reason_of(KSP ksp, const solvers::SolveResult& result,
                             const solvers::Tolerances& rule, Vec b, Vec x);
// Whether reason_of() reads b and x for this result.
bool squares_may_have_vanished(const solvers::SolveResult& result, const solvers::Tolerances& rule);

KspFacts facts_of(const KspEngine& engine, const solvers::SolveResult& result);

}  // namespace trireme
