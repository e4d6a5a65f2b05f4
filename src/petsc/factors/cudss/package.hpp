// SPDX-License-Identifier: BSD-3-Clause
// cuDSS as a package of PETSc's for the complete factors of a matrix on one rank: MatGetFactor(mat,
// kPackage, MAT_FACTOR_LU or MAT_FACTOR_CHOLESKY) and -pc_factor_mat_solver_type trireme_cudss. The
// factors are on the GPU of this rank; a solve copies b there and x back.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <string>

#include "petsc/factors/cudss/factors.hpp"

namespace trireme::cudss {

inline constexpr const char* kPackage = "trireme_cudss";

// Must be called after PetscInitialize; further calls do no harm.
void register_package();

// Come before the analysis: see Options::matching; and L L^T of a matrix of MAT_FACTOR_CHOLESKY,
// for which L D L^T is made otherwise.
void set_matching(Mat factors);
void set_positive(Mat factors);

struct Facts {
  std::string version;
  Estimate estimate;
  bool failed = false;  // no factors were made
  std::int64_t nonzeros = 0, small_pivots = 0;
  double analysis_seconds = 0, factor_seconds = 0;  // the latter of the last factorisation
};
// Of factors of this package after their analysis.
Facts facts_of(Mat factors);

}  // namespace trireme::cudss
