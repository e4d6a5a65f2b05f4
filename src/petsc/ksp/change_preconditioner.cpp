// SPDX-License-Identifier: BSD-3-Clause
// Another preconditioner in a KSP that is set up.
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/pc/pc_needs.hpp"

namespace trireme {

double KspSolver::change_preconditioner(const AnyPreconditioner& preconditioner) {
  const Stopwatch watch;
  PC pc = pc_of(ksp_);
  petsc_check(KSPSetReusePreconditioner(ksp_, PETSC_FALSE));
  petsc_check(PCSetType(pc, preconditioner.resident_type().c_str()), ExitCode::usage);
  if (MultigridPc* const multigrid = multigrid_of(pc)) multigrid->set(multigrid_options(spec_));
  petsc_check(PCSetFromOptions(pc), ExitCode::usage);
  if (const EngineChoice choice = trireme::choose_engine(ksp_); !choice.resident())
    fail(ExitCode::usage, "{}", describe(choice));
  require_nonzero_diagonal(*matrix_, pc);
  Mat pmat = nullptr;
  petsc_check(KSPGetOperators(ksp_, nullptr, &pmat));
  petsc_check(KSPSetOperators(ksp_, amat_, pmat));
  set_up_given();
  petsc_check(KSPSetUp(ksp_), ExitCode::input);
  ksp_prepare(ksp_);
  setup_seconds_ += watch.seconds();
  return max_over_ranks(comm_of(amat_), watch.seconds());
}

bool KspSolver::expects_to_find_multigrid() const {
  if (!store_) return false;
  Mat pmat = nullptr;
  petsc_check(KSPGetOperators(ksp_, nullptr, &pmat));
  return trireme::expects_to_find_multigrid(store_, pmat, multigrid_options(spec_));
}

}  // namespace trireme
