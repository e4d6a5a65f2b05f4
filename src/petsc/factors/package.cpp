// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/factors/package.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "petsc/factors/cudss/package.hpp"
#include "petsc/factors/mumps.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

bool is_available(Mat mat, MatSolverType package, MatFactorType type) {
  PetscBool available = PETSC_FALSE;
  petsc_check(MatGetFactorAvailable(mat, package, type, &available));
  return available == PETSC_TRUE;
}

}  // namespace

FactorChoice choose_factors(const FactorPackages& packages, bool symmetric, int ranks) {
  if (packages.cudss && ranks == 1) return {cudss::kPackage, symmetric, ""};
  if (symmetric && packages.mumps_cholesky) return {MATSOLVERMUMPS, true, ""};
  if (packages.mumps_lu) return {MATSOLVERMUMPS, false, ""};
  if (packages.superlu_dist)
    return {MATSOLVERSUPERLU_DIST, false, "PETSc has no MUMPS: the factors are SuperLU_DIST's"};
  if (ranks > 1)
    fail(ExitCode::usage,
         "complete factors on {} ranks need a PETSc with MUMPS or SuperLU_DIST, and this one has "
         "neither; use one rank, or another preconditioner",
         ranks);
  return {MATSOLVERPETSC, false,
          "PETSc has neither MUMPS nor SuperLU_DIST: the factors are its own, which exchanges no "
          "rows, so that a small pivot spoils them"};
}

FactorPackages packages_for(Mat mat) {
  return {.mumps_lu = mumps::has_mumps() && is_available(mat, MATSOLVERMUMPS, MAT_FACTOR_LU),
          .mumps_cholesky =
              mumps::has_mumps() && is_available(mat, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY),
          .superlu_dist = is_available(mat, MATSOLVERSUPERLU_DIST, MAT_FACTOR_LU)};
}

}  // namespace trireme
