// SPDX-License-Identifier: BSD-3-Clause
// Which engine solves: the resident one, or PETSc's and for what reason.
#pragma once

#include <petscksp.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/choices.hpp"
#include "config/case.hpp"

namespace trireme {

// Why the resident engine does not serve. The comment says what EngineChoice::subject names.
enum class EngineReason {
  serves,                       // it does serve
  asked_for,                    // solver.engine is petsc
  ksp_type_option,              // a KSP type that an option sets
  method,                       // a method that it lacks
  preconditioner,               // a preconditioner that it lacks
  petsc_block_jacobi,           // PETSc's bjacobi, for which it has others
  symmetric_preconditioner,     // a preconditioner for methods of symmetric matrices only
  nonsymmetric_preconditioner,  // one for the other methods only
  block_size,                   // a number of rows per block that is too large
  unused_options,               // options of a case that it does not read
  eigenvalues,
  lagged_norm,
  transposed_solves,
  error_history,
  diagonal_scaling,
  null_space,
  monitor_of_the_solution,  // the option of a monitor that asks for x, which is on the GPU
  norm_or_side,
  monitor_within_a_cycle,  // the option of a monitor that asks for x, in a method that restarts
};

struct EngineChoice {
  Engine engine = Engine::resident;
  EngineReason reason = EngineReason::serves;
  std::string subject;

  static EngineChoice petsc(EngineReason reason, std::string subject = {}) {
    return {Engine::petsc, reason, std::move(subject)};
  }
  bool resident() const { return engine == Engine::resident; }
};

// The reason in words: "the resident engine has cg, bicgstab, minres, not gmres". Empty where it
// serves.
std::string describe(const EngineChoice& choice);

// What is known from names alone. A choice of the resident engine may change once the KSP exists.
EngineChoice choose_engine(std::string_view method, const AnyPreconditioner& preconditioner);
// Likewise, with the engine that the case asks for.
EngineChoice choose_engine(const SolverSpec& spec);
// For a KSP of a resident type that has its operators: by everything that options and calls have
// asked of it. Comes after KSPSetFromOptions where that is called. Collective.
EngineChoice choose_engine(KSP ksp);

// Which loop a KSP of a resident type runs.
enum class Loop {
  resident,  // the resident one, with a preconditioner of its own
  applied,   // the resident one on the host, with PCApply and null spaces as PETSc applies them
  petscs,    // PETSc's own loop of the method
  none,      // a PC that works in the resident loop alone is asked for where only others serve
};
struct LoopChoice {
  Loop loop = Loop::resident;
  EngineChoice why;  // what the resident loop by itself lacks
};
// Wherever PETSc's type of the method works, one of them serves. Collective.
LoopChoice choose_loop(KSP ksp);
// What the resident engine lacks on GPUs only, for the option of solution_monitor().
EngineChoice choose_engine_on_gpu(const std::string& solution_monitor);

// The KSP type of the resident engine for a case's method (a name of the list of methods, PETSc's
// name of one of them, or the name of a type of ours); empty for a method that only PETSc has.
std::string resident_ksp_type(std::string_view method);
// PETSc's own KSP type for a case's method: bcgs for bicgstab, else what the method is called.
std::string petsc_ksp_type(std::string_view method);
// "cg, bicgstab, ...": the methods of the resident engine.
std::string resident_methods();

// The option of a monitor that asks for the solution in each iteration, such as
// "-ksp_monitor_true_residual"; empty if none is given.
std::string solution_monitor(KSP ksp);

// An option by which KSPSolve itself prints what it solves, such as "-ksp_view_pre"; empty if none
// is given.
std::string printing_option(KSP ksp);

// The -ksp_ options that nobody has read, of those that a KSP reads before its solve: "-ksp_a".
// PETSc does nothing about them; the program `solve` does.
std::vector<std::string> unread_ksp_options(KSP ksp);
// In one text, those that a KSP of a resident type has no use for; empty: none.
std::string options_without_meaning(KSP ksp);

}  // namespace trireme
