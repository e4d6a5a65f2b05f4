// SPDX-License-Identifier: BSD-3-Clause
// A KSP whose matrix is a Laplacian, for tests of PCs of Trireme.
#pragma once

#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "petsc/ksp_fixture.hpp"

namespace trireme::test {

class LaplacianKsp : public ResidentKsp {
 protected:
  void SetUp() override {
    ResidentKsp::SetUp();
    petsc_check(TriremeInitializePackage());
  }
  PC pc() {
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    return pc;
  }
  void make_laplacian(const char* type, const char* pc_type, double sign = 1) {
    MatHandle made = grid(30);
    PetscInt first = 0, last = 0;
    petsc_check(MatGetOwnershipRange(made, &first, &last));
    for (PetscInt row = first; row < last; ++row)
      petsc_check(MatSetValue(made, row, row, 4, INSERT_VALUES));
    petsc_check(MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY));
    petsc_check(MatScale(made, sign));
    make(std::move(made), type, pc_type);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  }
  void scale(double factor) {
    petsc_check(MatScale(a, factor));
    petsc_check(KSPSetOperators(ksp, a, a));
  }
  void expect_solved(const char* what) {
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << what;
    EXPECT_LE(relative_residual(), 1.001e-9) << what;
  }
  // What PCView prints on rank 0.
  std::string view_of_pc() {
    char* text = nullptr;
    std::size_t size = 0;
    FILE* const file = open_memstream(&text, &size);
    PetscViewer viewer = nullptr;
    petsc_check(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
    petsc_check(PCView(pc(), viewer));
    petsc_check(PetscViewerDestroy(&viewer));
    std::fclose(file);
    std::string view(text, size);
    std::free(text);
    return view;
  }
  static bool is_first_rank() {
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    return rank == 0;
  }
};

}  // namespace trireme::test
