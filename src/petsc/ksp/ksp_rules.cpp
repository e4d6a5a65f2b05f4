// SPDX-License-Identifier: BSD-3-Clause
// PETSc's tolerances and norms as those of the loops, and the loops' reasons as PETSc's.
#include "petsc/ksp/ksp_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/error.hpp"
#include "parallel/collective.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/pc/pc_needs.hpp"

namespace trireme {
namespace {

using solvers::NormKind;
using solvers::Reason;

KSPConvergedReason to_petsc(Reason reason) {
  if (reason == Reason::interrupted) return kKspStopped;
  return static_cast<KSPConvergedReason>(static_cast<int>(reason));
}

NormKind norm_kind(KSPNormType norm) {
  switch (norm) {
    case KSP_NORM_PRECONDITIONED:
      return NormKind::preconditioned;
    case KSP_NORM_NATURAL:
      return NormKind::natural;
    case KSP_NORM_NONE:
      return NormKind::none;
    default:
      return NormKind::unpreconditioned;
  }
}

// Whether the largest entries of b - A x and of b say that a claim of convergence is false.
// Collective.
bool squares_vanished(KSP ksp, const solvers::Tolerances& rule, Vec b, Vec x) {
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  VecHandle r;
  PetscInt rows = 0;
  PetscReal of_r = 0, of_b = 0;
  petsc_check(VecDuplicate(b, r.put()));
  petsc_check(MatMult(amat, x, r));
  petsc_check(VecAYPX(r, -1, b));
  petsc_check(VecNorm(r, NORM_INFINITY, &of_r));
  petsc_check(VecNorm(b, NORM_INFINITY, &of_b));
  petsc_check(VecGetSize(b, &rows));
  return of_b > 0 &&
         of_r > std::max(rule.rtol * std::sqrt(static_cast<double>(rows)) * of_b, rule.atol);
}

// Whether the PC could not be set up or applied, which it says on the ranks concerned. Collective.
bool has_failed(PC pc) {
  PCFailedReason reason = PC_NOERROR;
  petsc_check(PCGetFailedReason(pc, &reason));
  return any_rank(comm_of(pc), reason != PC_NOERROR);
}

}  // namespace

const char* const kVariantNames[5] = {"auto", "measured", "classic", "single_reduction",
                                      "pipelined"};

LoopInputs inputs_of(KSP ksp, const LoopChoice& choice) {
  Mat amat = nullptr, pmat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, &pmat));
  return {.amat = amat,
          .pmat = pmat,
          .pc = pc_of(ksp),
          .rows = row_test_of(ksp, requests_of(ksp)),
          .applied = choice.loop == Loop::applied,
          .like = solution_of(ksp)};
}

void require_loop(KSP ksp, const LoopChoice& choice) {
  if (choice.loop != Loop::none) return;
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  const std::string pc = type_of(pc_of(ksp));
  if (choice.why.reason == EngineReason::symmetric_preconditioner)
    fail(
        ExitCode::usage,
        "KSP {} with PC {}: the PC is for symmetric matrices; use it with {} or {}, or use another "
        "PC, such as jacobi or {}",
        type, pc, ksp_type_of(solvers::Method::cg), ksp_type_of(solvers::Method::minres),
        kTriremeMultigrid);
  fail(ExitCode::usage, "KSP {} with PC {}: {}; use another PC, such as jacobi or {}", type, pc,
       describe(choice.why), kTriremeMultigrid);
}

void say_once(MPI_Comm comm, const std::string& line) {
  static std::set<std::string> said;
  PetscMPIInt in_comm = 0, in_world = 0;
  MPI_Comm_rank(comm, &in_comm);
  MPI_Comm_rank(PETSC_COMM_WORLD, &in_world);
  const bool by_us = size_of(comm) > 1 ? in_comm == 0 : in_world == 0;
  if (by_us && said.insert(line).second) fmt::print(stderr, "trireme: {}\n", line);
}

solvers::Tolerances tolerances_of(KSP ksp, const KspRequests& asked) {
  solvers::Tolerances rule;
  PetscInt max_iterations = 0;
  petsc_check(KSPGetTolerances(ksp, &rule.rtol, &rule.atol, &rule.divtol, &max_iterations));
  rule.max_iterations = max_iterations;
  rule.min_iterations = asked.min_iterations;
  rule.untested_iterations = asked.untested_iterations;
  rule.norm = norm_kind(asked.norm);
  rule.rows = row_test_of(ksp, asked);
  rule.relative_to_initial_residual = asked.relative_to_initial_residual;
  rule.relative_to_smaller = asked.relative_to_smaller;
  rule.limit_is_success = asked.limit_is_success;
  rule.judged_by_caller = asked.own_test;
  rule.drops_worse_guess = engine_of(ksp).drops_worse_guess;
  return rule;
}

solvers::RowTest row_test_of(KSP ksp, const KspRequests& asked) {
  using solvers::RowTest;
  if (norm_kind(asked.norm) != NormKind::unpreconditioned || asked.own_test) return RowTest::none;
  if (const auto set = engine_of(ksp).row_test) return *set;
  return asked.norm_is_chosen ? RowTest::none : RowTest::both;
}

// The loop's norms are roots of sums of squares, and a square below 1e-308 is 0.
bool squares_may_have_vanished(const solvers::SolveResult& result,
                               const solvers::Tolerances& rule) {
  constexpr double kSquareIsExact = 1e-145;
  return static_cast<int>(result.reason) > 0 && rule.norm != NormKind::none &&
         !(result.norm > kSquareIsExact);
}

KSPConvergedReason reason_of(KSP ksp, const solvers::SolveResult& result,
                             const solvers::Tolerances& rule, Vec b, Vec x) {
  if (squares_may_have_vanished(result, rule) && squares_vanished(ksp, rule, b, x))
    return KSP_DIVERGED_BREAKDOWN;
  if (result.reason == Reason::not_finite && has_failed(pc_of(ksp))) return KSP_DIVERGED_PC_FAILED;
  return to_petsc(result.reason);
}

KspFacts facts_of(const KspEngine& engine, const solvers::SolveResult& result) {
  return {engine.executor(),       kVariantNames[static_cast<int>(result.variant)],
          result.replacements,     engine.mixed(),
          result.exact_from,       result.reason == Reason::interrupted,
          result.stagnated,        engine.variant_times(),
          result.dropped_norm,     0,
          engine.vectors_in_fp32()};
}

std::string why_variant(const KspFacts& facts) {
  if (!facts.variant_times) return "";
  const solvers::VariantTimes& times = *facts.variant_times;
  return fmt::format(
      "CG runs as {}: a sum over the ranks takes {:.3g} us, and the work on vectors {:.3g} us per "
      "iteration as classic and {:.3g} us as single_reduction",
      facts.variant, 1e6 * times.sum, 1e6 * times.classic, 1e6 * times.single_reduction);
}

}  // namespace trireme
