/* SPDX-License-Identifier: BSD-3-Clause */
/*
  A PETSc program that knows nothing of Trireme: two heat equations on grids of different sizes,
  each advanced by implicit steps whose coefficients change from step to step.

    (1/dt(step) + L) u_next = u / dt(step) + f

  All of -mat_type, -ksp_type and -pc_type are options; -steps is their number (3). Each solution is
  compared with that of an AIJ matrix by CG and Jacobi; the program ends with 1 where one differs.
*/
#include <petscksp.h>

typedef struct {
  PetscInt n;    /* points per side of the grid */
  Mat matrix;    /* of the type that -mat_type says */
  Mat reference; /* of type AIJ */
  Vec u, rhs, expected;
  KSP ksp, reference_ksp;
} Heat;

static PetscErrorCode SetEntries(Mat matrix, PetscInt n, PetscReal inverse_dt) {
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(matrix, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row % n, j = row / n;
    PetscInt columns[5], count = 0;
    PetscScalar values[5];

    columns[count] = row;
    values[count++] = 4 + inverse_dt;
    if (i > 0) {
      columns[count] = row - 1;
      values[count++] = -1;
    }
    if (i < n - 1) {
      columns[count] = row + 1;
      values[count++] = -1;
    }
    if (j > 0) {
      columns[count] = row - n;
      values[count++] = -1;
    }
    if (j < n - 1) {
      columns[count] = row + n;
      values[count++] = -1;
    }
    PetscCall(MatSetValues(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(PetscInt n, PetscBool from_options, Mat* matrix) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetSizes(*matrix, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  if (from_options)
    PetscCall(MatSetFromOptions(*matrix));
  else
    PetscCall(MatSetType(*matrix, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*matrix, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*matrix, 5, NULL, 5, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Heat* heat, PetscInt n) {
  PC pc;

  PetscFunctionBeginUser;
  heat->n = n;
  PetscCall(CreateMatrix(n, PETSC_TRUE, &heat->matrix));
  PetscCall(CreateMatrix(n, PETSC_FALSE, &heat->reference));
  PetscCall(SetEntries(heat->matrix, n, 1));
  PetscCall(SetEntries(heat->reference, n, 1));
  PetscCall(MatCreateVecs(heat->matrix, &heat->u, &heat->rhs));
  PetscCall(VecDuplicate(heat->u, &heat->expected));
  PetscCall(VecSet(heat->u, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &heat->ksp));
  PetscCall(KSPSetOperators(heat->ksp, heat->matrix, heat->matrix));
  PetscCall(KSPSetTolerances(heat->ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(heat->ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &heat->reference_ksp));
  PetscCall(KSPSetOperators(heat->reference_ksp, heat->reference, heat->reference));
  PetscCall(
      KSPSetTolerances(heat->reference_ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetType(heat->reference_ksp, KSPCG));
  PetscCall(KSPGetPC(heat->reference_ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscFunctionReturn(0);
}

/* One step of each; *agrees is false where the solutions differ. */
static PetscErrorCode Step(Heat* heat, PetscInt step, PetscBool* agrees) {
  const PetscReal inverse_dt = 1 + step;
  PetscInt iterations;
  PetscReal difference, size;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(SetEntries(heat->matrix, heat->n, inverse_dt));
  PetscCall(SetEntries(heat->reference, heat->n, inverse_dt));
  PetscCall(VecCopy(heat->u, heat->rhs));
  PetscCall(VecScale(heat->rhs, inverse_dt));
  PetscCall(VecShift(heat->rhs, 1));
  PetscCall(KSPSolve(heat->ksp, heat->rhs, heat->u));
  PetscCall(KSPSolve(heat->reference_ksp, heat->rhs, heat->expected));
  PetscCall(KSPGetConvergedReason(heat->ksp, &reason));
  PetscCall(KSPGetIterationNumber(heat->ksp, &iterations));
  PetscCall(VecNorm(heat->expected, NORM_2, &size));
  PetscCall(VecAXPY(heat->expected, -1, heat->u));
  PetscCall(VecNorm(heat->expected, NORM_2, &difference));
  *agrees = (PetscBool)(reason > 0 && difference < 1e-7 * size);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "grid %d, step %d: %s in %d iterations, difference %.1e: %s\n",
                        (int)heat->n, (int)step, KSPConvergedReasons[reason], (int)iterations,
                        (double)(difference / size), *agrees ? "agrees" : "DIFFERS"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Heat* heat) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&heat->ksp));
  PetscCall(KSPDestroy(&heat->reference_ksp));
  PetscCall(MatDestroy(&heat->matrix));
  PetscCall(MatDestroy(&heat->reference));
  PetscCall(VecDestroy(&heat->u));
  PetscCall(VecDestroy(&heat->rhs));
  PetscCall(VecDestroy(&heat->expected));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const PetscInt sizes[2] = {20, 31};
  Heat heats[2];
  PetscBool agrees, all_agree = PETSC_TRUE;
  PetscInt steps = 3;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  for (int k = 0; k < 2; ++k) PetscCall(Create(&heats[k], sizes[k]));
  for (PetscInt step = 0; step < steps; ++step)
    for (int k = 0; k < 2; ++k) {
      PetscCall(Step(&heats[k], step, &agrees));
      if (!agrees) all_agree = PETSC_FALSE;
    }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n",
                        all_agree ? "all solutions agree" : "a solution DIFFERS"));
  for (int k = 0; k < 2; ++k) PetscCall(Destroy(&heats[k]));
  PetscCall(PetscFinalize());
  return all_agree ? 0 : 1;
}
