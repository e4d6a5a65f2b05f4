// SPDX-License-Identifier: BSD-3-Clause
// The PC types trireme_fsai and trireme_spai under the KSP types of PETSc and of Trireme, on 1 and
// several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <string>

#include "petsc/laplacian_ksp.hpp"
#include "petsc/pc/pc_approximate_inverses.hpp"
#include "support/petsc_option.hpp"

namespace trireme {
namespace {

using namespace test;

class FsaiPcTest : public LaplacianKsp {
 protected:
  const FsaiPc& fsai() { return *fsai_of(pc()); }
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
  const std::string view = view_of_pc();
  if (!is_first_rank()) return;
  EXPECT_NE(view.find("10 steps of 3 entries"), std::string::npos) << view;
  EXPECT_NE(view.find("nonzeros in FP32, kernels albus and albus"), std::string::npos) << view;
}

// The loop calls PCApply then.
TEST_F(FsaiPcTest, ServesAMethodForNonsymmetricMatrices) {
  make_laplacian("trireme_bicgstab", PCTRIREMEFSAI);
  expect_solved("bicgstab");
}

class SpaiPcTest : public LaplacianKsp {
 protected:
  const SpaiPc& spai() { return *spai_of(pc()); }
};

TEST_F(SpaiPcTest, SavesIterationsUnderKspTypesForAnyMatrix) {
  for (const char* type :
       {"trireme_bicgstab", "trireme_bicgstab2", "trireme_gmres", KSPGMRES, KSPBCGS, KSPBICG}) {
    make_laplacian(type, PCJACOBI);
    expect_solved(type);
    const PetscInt of_jacobi = iterations();
    make_laplacian(type, PCTRIREMESPAI);
    expect_solved(type);
    EXPECT_LT(iterations(), of_jacobi) << type;
    EXPECT_EQ(spai().builds, 1) << type;
  }
}

TEST_F(SpaiPcTest, RenewsItsNumbersForNewValues) {
  for (const char* type : {"trireme_bicgstab", KSPGMRES}) {
    make_laplacian(type, PCTRIREMESPAI);
    expect_solved(type);
    const PetscInt before = iterations();
    scale(1e6);
    expect_solved(type);
    EXPECT_EQ(iterations(), before);
    EXPECT_EQ(spai().renewals, 1);
    EXPECT_EQ(spai().builds, 1);
  }
}

TEST_F(SpaiPcTest, TakesItsStepsFromTheOptionsAndSaysWhatItIs) {
  const PetscOption option("-pc_trireme_spai_steps", "1");
  make_laplacian("trireme_bicgstab", PCTRIREMESPAI);
  petsc_check(KSPSetFromOptions(ksp));
  expect_solved("1 step");
  EXPECT_EQ(spai().options.steps, 1);
  const std::string view = view_of_pc();
  if (!is_first_rank()) return;
  EXPECT_NE(view.find("  sparse approximate inverse, 1 steps of 3 entries"), std::string::npos)
      << view;
  EXPECT_NE(view.find("nonzeros in FP32, kernel albus, built 1"), std::string::npos) << view;
}

}  // namespace
}  // namespace trireme
