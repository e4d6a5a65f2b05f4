/* SPDX-License-Identifier: BSD-3-Clause */
/*
  A PETSc program that knows nothing of Trireme: it solves for -columns (6) right-hand sides at once
  by KSPMatSolve, for two matrices with one pattern, and compares each column with the solution by
  PETSc's CG. The types of the matrix and of the KSP are options. The program ends with 1 where a
  column differs.
*/
#include <petscksp.h>

/* A tridiagonal matrix. */
static PetscErrorCode SetEntries(Mat matrix, PetscScalar diagonal) {
  PetscInt first, last, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(matrix, &n, NULL));
  PetscCall(MatGetOwnershipRange(matrix, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscCall(MatSetValue(matrix, row, row, diagonal + row % 5, INSERT_VALUES));
    if (row > 0) PetscCall(MatSetValue(matrix, row, row - 1, -1, INSERT_VALUES));
    if (row < n - 1) PetscCall(MatSetValue(matrix, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The largest relative difference between a column of X and the solution by `reference`. */
static PetscErrorCode Compare(KSP reference, Mat B, Mat X, PetscReal* largest) {
  PetscInt columns;

  PetscFunctionBeginUser;
  *largest = 0;
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt j = 0; j < columns; ++j) {
    Vec b, x, expected;
    PetscReal difference, size;

    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(VecDuplicate(b, &expected));
    PetscCall(KSPSolve(reference, b, expected));
    PetscCall(VecNorm(expected, NORM_2, &size));
    PetscCall(VecAXPY(expected, -1, x));
    PetscCall(VecNorm(expected, NORM_2, &difference));
    *largest = PetscMax(*largest, difference / size);
    PetscCall(VecDestroy(&expected));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const PetscInt n = 300;
  PetscInt columns = 6, rows, iterations;
  PetscBool all_agree = PETSC_TRUE;
  Mat matrix, B, X;
  KSP ksp, reference;
  PC pc;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-columns", &columns, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
  PetscCall(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(matrix));
  PetscCall(MatSetUp(matrix));
  PetscCall(SetEntries(matrix, 2.1));
  PetscCall(MatGetLocalSize(matrix, &rows, NULL));
  PetscCall(
      MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &reference));
  PetscCall(KSPSetOperators(reference, matrix, matrix));
  PetscCall(KSPSetTolerances(reference, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetType(reference, KSPCG));
  PetscCall(KSPGetPC(reference, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  for (PetscInt step = 0; step < 2; ++step) {
    KSPConvergedReason reason;
    PetscReal difference;

    PetscCall(SetEntries(matrix, 2.1 + 0.2 * step));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(Compare(reference, B, X, &difference));
    if (reason < 0 || difference > 1e-7) all_agree = PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d columns: %s in %d iterations, difference %.1e\n",
                          (int)columns, KSPConvergedReasons[reason], (int)iterations,
                          (double)difference));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n",
                        all_agree ? "all solutions agree" : "a solution DIFFERS"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&reference));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&matrix));
  PetscCall(PetscFinalize());
  return all_agree ? 0 : 1;
}
