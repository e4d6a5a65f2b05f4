// SPDX-License-Identifier: BSD-3-Clause
// PETSc's own loop of a method within a KSP of a resident type, for what the resident loop lacks.
#pragma once

#include <petscksp.h>

#include <cstdint>

#include "petsc/shim.hpp"

namespace trireme {

// The functions and the data of a KSP of PETSc's type, which take the place of those of `ksp` while
// they work. Everything else is that of `ksp`: operators, PC, tolerances, monitors, vectors. The
// norm and the side are those that the user chose, else PETSc's default of its type.
class BorrowedLoop {
 public:
  // Makes what a KSP of `type` has, with cycles of `restart` iterations where it has cycles, and
  // returns the norm that it will test. Throws Error{usage} where that type lacks the norm or the
  // side that the user chose. Collective.
  KSPNormType prepare(KSP ksp, const char* type, std::int32_t restart);
  // The work of KSPSetUp and of KSPSolve for such a KSP, after prepare(). `read_options`: those of
  // that type too. Collective.
  void solve(KSP ksp, bool read_options);

  // KSPComputeExtremeSingularValues and its like after solve(). Where the type or the last solve
  // has none: -1, and no eigenvalues, as PETSc says. Collective.
  void extreme_singular_values(KSP ksp, PetscReal* largest, PetscReal* smallest);
  void eigenvalues(KSP ksp, PetscInt n, PetscReal* real, PetscReal* imaginary, PetscInt* count);

  void forget() { lender_.reset(); }
  bool in_use() const { return lender_ != nullptr; }

 private:
  KspHandle lender_;  // of PETSc's type; made anew for each solve
};

}  // namespace trireme
