/* SPDX-License-Identifier: BSD-3-Clause */
/*
  A program with a PETSc of any kind, which it loads itself:

    another_petsc <library> <global|local> <PETSc options...>

  Where the library's names are global, a plugin that PETSc loads finds the functions of this PETSc.
  Where they are local, as in Python, it finds those of the PETSc that it was linked with.
*/
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int (*initialize)(int*, char***, const char*, const char*);
  int (*finalize)(void);
  if (argc < 3) return 2;
  void* petsc = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "global") ? RTLD_LOCAL : RTLD_GLOBAL));
  if (!petsc) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  *(void**)&initialize = dlsym(petsc, "PetscInitialize");
  *(void**)&finalize = dlsym(petsc, "PetscFinalize");
  if (!initialize || !finalize) return 2;
  if (initialize(&argc, &argv, NULL, NULL)) {
    printf("PetscInitialize has failed\n");
    return MPI_Finalize();
  }
  printf("PetscInitialize has succeeded\n");
  return finalize();
}
