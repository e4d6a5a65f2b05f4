// SPDX-License-Identifier: BSD-3-Clause
// A PETSc program that has an assembled Mat and wants Trireme's product and its CG.
#include <petscksp.h>

#include <petsc/ksp_types.hpp>
#include <petsc/mat_trireme.hpp>

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  Mat a = nullptr, fast = nullptr;
  PetscCall(
      MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 100, 100, 4, &a));
  PetscCall(MatConvert(a, MATAIJ, MAT_INPLACE_MATRIX, &a));
  PetscCall(MatCreateTrireme(a, {.kernel = "albus"}, &fast));
  Vec x = nullptr, b = nullptr;
  PetscCall(MatCreateVecs(fast, &x, &b));
  PetscCall(VecSet(b, 8));
  KSP ksp = nullptr;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, fast, a));
  trireme::register_resident_types();
  PetscCall(KSPSetType(ksp, "trireme_cg"));
  PC pc = nullptr;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscReal largest = 0;
  PetscCall(VecNorm(x, NORM_INFINITY, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "x = %g\n", static_cast<double>(largest)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&fast));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
