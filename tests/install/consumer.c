/* SPDX-License-Identifier: BSD-3-Clause */
/*
  A PETSc program in C that has an assembled matrix and wants Trireme's products and its CG: it
  solves 4 x = 8, changes the values, and solves 2 x = 8.
*/
#include <trireme/petsc.h>

#if !TRIREME_VERSION_GE(0, 2, 0)
#error "the header is older than its first stable version"
#endif

static PetscErrorCode SolveAndPrint(KSP ksp, Vec b, Vec x) {
  PetscReal max;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_INFINITY, &max));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "x = %g\n", (double)max));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat assembled, fast;
  Vec x, b;
  KSP ksp;
  PC pc;
  PetscInt first, last;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 100, 100, 1, NULL, 0, NULL,
                         &assembled));
  PetscCall(MatGetOwnershipRange(assembled, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    PetscCall(MatSetValue(assembled, row, row, 4, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(assembled, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(assembled, MAT_FINAL_ASSEMBLY));

  PetscCall(MatCreateTrireme(assembled, "albus", "cpu", "double", &fast));
  PetscCall(MatCreateVecs(fast, &x, &b));
  PetscCall(VecSet(b, 8));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, fast, fast));
  PetscCall(KSPSetType(ksp, KSPTRIREMECG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveAndPrint(ksp, b, x));

  PetscCall(MatScale(assembled, 0.5));
  PetscCall(MatTriremeUpdateValues(fast, assembled));
  PetscCall(MatTriremeSetKernel(fast, "csr"));
  PetscCall(SolveAndPrint(ksp, b, x));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&fast));
  PetscCall(MatDestroy(&assembled));
  PetscCall(PetscFinalize());
  return 0;
}
