// SPDX-License-Identifier: BSD-3-Clause
// Trireme for PETSc programs: an assembled Mat becomes a Trireme operator in one call.
//
//   Mat fast;
//   PetscCall(MatCreateTrireme(A, {.kernel = "albus"}, &fast));
//   PetscCall(KSPSetOperators(ksp, fast, A));   // A, where the preconditioner needs an assembled
//   one
#pragma once

#include <petscmat.h>

#include <string>

namespace trireme {

struct TriremeOptions {
  std::string kernel = "auto";  // any name of kernel_registry() with a CPU executor, or auto
};

}  // namespace trireme

// A MatShell that multiplies with the kernel of `options`; it copies what it needs and keeps no
// reference to `assembled`, which is square, with rows and columns split alike, and of any type
// that has MatGetRow. The caller destroys `*shell`. Collective.
PetscErrorCode MatCreateTrireme(Mat assembled, const trireme::TriremeOptions& options, Mat* shell);

// The values of `assembled` (same nonzeros as before) for the shell's kernel. Collective.
PetscErrorCode MatTriremeUpdateValues(Mat shell, Mat assembled);
