// SPDX-License-Identifier: BSD-3-Clause
// Which package of PETSc's makes complete factors, and which factors it makes.
#pragma once

#include <petscksp.h>

#include <string>

namespace trireme {

// What the packages of a PETSc can do with a matrix.
struct FactorPackages {
  bool mumps_lu = false, mumps_cholesky = false;
  bool superlu_dist = false;
  bool cudss = false;  // and the matrix is on a GPU
};

struct FactorChoice {
  std::string package;     // a MatSolverType
  bool symmetric = false;  // L D L^T, with half of the entries of L U
  std::string note;        // what the user should know of it; may be empty
};

// The package for a matrix on `ranks` ranks: cuDSS on one rank with a GPU; else MUMPS,
// SuperLU_DIST, or on one rank PETSc's own.
// `symmetric`: whether L D L^T is wanted. Throws Error{usage} where none serves.
FactorChoice choose_factors(const FactorPackages& packages, bool symmetric, int ranks);

// Of the running PETSc, for an assembled matrix; `cudss` is left to the caller.
FactorPackages packages_for(Mat mat);

}  // namespace trireme
