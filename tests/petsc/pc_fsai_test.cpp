// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_fsai under the KSP types of PETSc and of Trireme, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "petsc/ksp_fixture.hpp"
#include "petsc/pc/pc_fsai.hpp"
#include "support/petsc_option.hpp"

namespace trireme {
namespace {

using namespace test;

class FsaiPcTest : public ResidentKsp {
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
  const FsaiPc& fsai() { return *fsai_of(pc()); }
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
};

TEST_F(FsaiPcTest, SavesIterationsUnderEveryKspTypeForSymmetricMatrices) {
  for (const char* type : {"trireme_cg", "trireme_minres", "trireme_block_cg", KSPCG, KSPFCG}) {
    make_laplacian(type, PCJACOBI);
    expect_solved(type);
    const PetscInt of_jacobi = iterations();
    make_laplacian(type, PCTRIREMEFSAI);
    expect_solved(type);
    EXPECT_LE(2 * iterations(), of_jacobi) << type;
    EXPECT_EQ(fsai().builds, 1) << type;
  }
}

TEST_F(FsaiPcTest, RenewsItsNumbersForNewValuesAndKeepsThemWhereItIsTold) {
  for (const char* type : {"trireme_cg", KSPCG}) {
    make_laplacian(type, PCTRIREMEFSAI);
    expect_solved(type);
    const PetscInt before = iterations();
    scale(1e6);
    expect_solved(type);
    EXPECT_EQ(iterations(), before);
    EXPECT_EQ(fsai().builds, 1);
    EXPECT_EQ(fsai().renewals, 1);
    petsc_check(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    scale(2);
    expect_solved(type);
    EXPECT_EQ(fsai().renewals, 1);
    petsc_check(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
    scale(-1);
    expect_solved(type);
    EXPECT_EQ(fsai().builds, 2) << "another sign is another matrix";
    EXPECT_TRUE(fsai().negated());
  }
}

TEST_F(FsaiPcTest, ServesANegativeDefiniteMatrix) {
  for (const char* type : {"trireme_cg", KSPCG}) {
    make_laplacian(type, PCTRIREMEFSAI);
    expect_solved(type);
    const PetscInt of_positive = iterations();
    make_laplacian(type, PCTRIREMEFSAI, -1);
    expect_solved(type);
    EXPECT_TRUE(fsai().negated());
    EXPECT_EQ(iterations(), of_positive) << type;
  }
}

TEST_F(FsaiPcTest, TakesItsStepsFromTheOptions) {
  make_laplacian("trireme_cg", PCTRIREMEFSAI);
  expect_solved("10 steps");
  const PetscInt of_ten = iterations();
  const PetscOption option("-pc_trireme_fsai_steps", "1");
  petsc_check(KSPSetFromOptions(ksp));
  expect_solved("1 step");
  EXPECT_GT(iterations(), of_ten);
  EXPECT_EQ(fsai().options.steps, 1);
  EXPECT_EQ(fsai().builds, 2);
}

TEST_F(FsaiPcTest, SaysWhatItIs) {
  make_laplacian("trireme_cg", PCTRIREMEFSAI);
  expect_solved("10 steps");
  char* text = nullptr;
  std::size_t size = 0;
  FILE* const file = open_memstream(&text, &size);
  PetscViewer viewer = nullptr;
  petsc_check(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  petsc_check(PCView(pc(), viewer));
  petsc_check(PetscViewerDestroy(&viewer));
  std::fclose(file);
  const std::string view(text, size);
  std::free(text);
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank != 0) return;
  EXPECT_NE(view.find("10 steps of 3 entries"), std::string::npos) << view;
  EXPECT_NE(view.find("nonzeros in FP32, kernels albus and albus"), std::string::npos) << view;
}

// The loop calls PCApply then.
TEST_F(FsaiPcTest, ServesAMethodForNonsymmetricMatrices) {
  make_laplacian("trireme_bicgstab", PCTRIREMEFSAI);
  expect_solved("bicgstab");
}

}  // namespace
}  // namespace trireme
