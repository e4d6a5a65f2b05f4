// SPDX-License-Identifier: BSD-3-Clause
// The Mat type trireme on a GPU: products, new values, and the loops of the resident KSPs. Skips
// without a GPU.
#include <gtest/gtest.h>
#include <trireme/petsc.h>

#include <string>

#include "device/device.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/mat_trireme.hpp"
#include "petsc/mat_trireme_fixture.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

using namespace test;

class MatTriremeOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    petsc_check(PetscOptionsClear(nullptr));
    aij = aij_of(dominant_matrix(3000), Cut::by_nonzeros);
  }
  void TearDown() override { petsc_check(PetscOptionsClear(nullptr)); }

  // New values for both matrices.
  void change(Mat mat) {
    for (Mat any : {static_cast<Mat>(aij), mat}) {
      petsc_check(MatScale(any, 1.5));
      petsc_check(MatShift(any, 3));
    }
  }

  MatHandle aij;
};

TEST_F(MatTriremeOnAGpu, MultipliesAsAijByEveryKernel) {
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_double) continue;
    SCOPED_TRACE(entry.name);
    const MatHandle mat = trireme_of(aij, std::string(entry.name).c_str(), "cuda");
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
    EXPECT_TRUE(products_of(mat).on_gpu());
    change(mat);
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
    EXPECT_EQ(products_of(mat).builds(), 1);
    EXPECT_EQ(products_of(mat).updates(), 1);
  }
}

TEST_F(MatTriremeOnAGpu, KeepsTheWholeLoopOfAResidentKspThere) {
  for (const char* type : {KSPTRIREMECG, KSPTRIREMEBICGSTAB, KSPTRIREMEMINRES})
    for (const char* precision : {"double", "mixed"}) {
      SCOPED_TRACE(std::string(type) + " " + precision);
      const MatHandle mat = trireme_of(aij, nullptr, "cuda", precision);
      KspHandle ksp;
      petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
      EXPECT_LT(residual_of_solve(mat, aij, type, ksp), 1.001e-9);
      EXPECT_TRUE(ksp_facts(ksp)->executor.starts_with("cuda")) << ksp_facts(ksp)->executor;
      change(mat);
      EXPECT_LT(residual_of_solve(mat, aij, type, ksp), 1.001e-9) << "follows new values";
      EXPECT_LT(relative_difference(aij, mat, mult), 1e-14) << "MatMult is exact";
    }
}

TEST_F(MatTriremeOnAGpu, RunsMultigridThere) {
  for (const char* type : {KSPTRIREMECG, KSPTRIREMEBICGSTAB, KSPTRIREMEMINRES}) {
    SCOPED_TRACE(type);
    const MatHandle mat = trireme_of(aij, nullptr, "cuda");
    KspHandle ksp;
    petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
    const auto solve = [&](const char* what) {
      EXPECT_LT(residual_of_solve(mat, aij, type, ksp, kTriremeMultigrid), 1.001e-9) << what;
      EXPECT_TRUE(ksp_facts(ksp)->executor.starts_with("cuda")) << ksp_facts(ksp)->executor;
    };
    solve("");
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    const MultigridPc& multigrid = *multigrid_of(pc);
    const bool alone = size_of(MPI_COMM_WORLD) == 1;
    ASSERT_EQ(multigrid.on_device() != nullptr, alone);
    ASSERT_EQ(multigrid.on_ranks() != nullptr, !alone);
    if (alone) {
      EXPECT_FALSE(multigrid.on_device()->built_on_host());
    }
    EXPECT_EQ(multigrid.hierarchy() == nullptr, alone) << "the host builds for several GPUs";
    solve("by the recorded loop");
    change(mat);
    solve("follows new values");
    EXPECT_EQ(multigrid.renewals(), 1);
    petsc_check(PetscOptionsSetValue(nullptr, "-pc_trireme_mg_degree", "3"));
    petsc_check(PCSetFromOptions(pc));
    solve("follows a new hierarchy");
    EXPECT_EQ(multigrid.builds(), 2);
    EXPECT_EQ(multigrid.hierarchy() == nullptr, alone);
    petsc_check(PetscOptionsClear(nullptr));
  }
}

TEST_F(MatTriremeOnAGpu, HasTheMultigridCycleOnTheHostForThoseWhoAskForIt) {
  const MatHandle mat = trireme_of(aij, nullptr, "cuda");
  KspHandle ours, petscs;
  for (KspHandle* ksp : {&ours, &petscs}) petsc_check(KSPCreate(MPI_COMM_WORLD, ksp->put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ours, kTriremeMultigrid), 1.001e-9);
  PC pc = nullptr;
  petsc_check(KSPGetPC(ours, &pc));
  petsc_check(KSPSetPC(petscs, pc));
  for (const char* what : {"the first cycle there", "new values"}) {
    EXPECT_LT(residual_of_solve(mat, aij, KSPCG, petscs, kTriremeMultigrid), 1.001e-9) << what;
    EXPECT_NE(multigrid_of(pc)->hierarchy(), nullptr);
    change(mat);
  }
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ours, kTriremeMultigrid), 1.001e-9);
  EXPECT_EQ(multigrid_of(pc)->builds(), 1);
}

TEST_F(MatTriremeOnAGpu, RefusesAMatrixWithoutAMultigridHierarchyInPcSetUp) {
  petsc_check(MatSetValue(aij, 5, 5, -1, INSERT_VALUES));
  assemble(aij);
  const MatHandle mat = trireme_of(aij, nullptr, "cuda");
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetOperators(ksp, mat, mat));
  petsc_check(KSPSetType(ksp, KSPTRIREMECG));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, kTriremeMultigrid));
  for (int k = 0; k < 2; ++k)
    EXPECT_NE(message_of(KSPSetUp(ksp)).find("that of row 5 (from 0) is -1"), std::string::npos);
  EXPECT_FALSE(multigrid_of(pc)->is_set_up());
}

TEST_F(MatTriremeOnAGpu, ComesThereByItselfWhereAResidentKspAsks) {
  const MatHandle mat = trireme_of(aij);
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
  EXPECT_FALSE(products_of(mat).on_gpu());
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
  EXPECT_TRUE(products_of(mat).on_gpu());
  EXPECT_EQ(products_of(mat).builds(), 2);
  petsc_check(MatScale(aij, 2));
  petsc_check(MatScale(mat, 2));
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
  EXPECT_TRUE(products_of(mat).on_gpu()) << "stays there";
}

TEST_F(MatTriremeOnAGpu, KspMatSolveSolvesEachColumn) {
  constexpr PetscInt kColumns = 5;
  for (const char* kernel : {"spmm-row-warp", "csr-scalar"}) {  // at once, and one by one
    SCOPED_TRACE(kernel);
    const MatHandle mat = trireme_of(aij, kernel, "cuda");
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(aij, &rows, nullptr));
    MatHandle b, x, product;
    for (MatHandle* block : {&b, &x}) {
      petsc_check(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, kColumns,
                                 nullptr, block->put()));
      petsc_check(MatAssemblyBegin(*block, MAT_FINAL_ASSEMBLY));
      petsc_check(MatAssemblyEnd(*block, MAT_FINAL_ASSEMBLY));
    }
    petsc_check(MatSetRandom(b, nullptr));
    KspHandle ksp;
    petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
    petsc_check(KSPSetOperators(ksp, mat, mat));
    petsc_check(KSPSetType(ksp, KSPTRIREMECG));
    petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    petsc_check(PCSetType(pc, PCJACOBI));
    petsc_check(KSPMatSolve(ksp, b, x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    petsc_check(MatMatMult(aij, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.put()));
    petsc_check(MatAXPY(product, -1, b, SAME_NONZERO_PATTERN));
    PetscReal residual = 0, norm = 0;
    petsc_check(MatNorm(product, NORM_FROBENIUS, &residual));
    petsc_check(MatNorm(b, NORM_FROBENIUS, &norm));
    EXPECT_LE(residual, 1e-7 * norm);
  }
}

}  // namespace
}  // namespace trireme
