// SPDX-License-Identifier: BSD-3-Clause
// The PC types trireme_ilu and trireme_icc under the KSP types of PETSc and of Trireme, on 1 and
// several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <string>

#include "petsc/laplacian_ksp.hpp"
#include "petsc/pc/pc_incomplete_factors.hpp"
#include "support/petsc_option.hpp"

namespace trireme {
namespace {

using namespace test;

class IncompleteFactorsPcTest : public LaplacianKsp {
 protected:
  const IncompleteFactorsPc& data() { return *incomplete_factors_of(pc()); }
};

TEST_F(IncompleteFactorsPcTest, SavesIterationsUnderEveryKspType) {
  struct Case {
    const char *type, *pc;
  };
  for (const auto& [type, pc] : {Case{"trireme_cg", PCTRIREMEICC},
                                 {"trireme_minres", PCTRIREMEICC},
                                 {"trireme_block_cg", PCTRIREMEICC},
                                 {KSPCG, PCTRIREMEICC},
                                 {KSPGMRES, PCTRIREMEICC},
                                 {"trireme_bicgstab", PCTRIREMEILU},
                                 {"trireme_bicgstab2", PCTRIREMEILU},
                                 {"trireme_gmres", PCTRIREMEILU},
                                 {KSPBCGS, PCTRIREMEILU},
                                 {KSPGMRES, PCTRIREMEILU}}) {
    make_laplacian(type, PCJACOBI);
    expect_solved(type);
    const PetscInt of_jacobi = iterations();
    make_laplacian(type, pc);
    expect_solved(type);
    EXPECT_LE(4 * iterations(), 3 * of_jacobi) << type;
    EXPECT_EQ(data().builds, 1) << type;
  }
}

TEST_F(IncompleteFactorsPcTest, TakesAsManyIterationsAsPetscsFactors) {
  for (const char* overlap : {"0", "1", "2"}) {
    const PetscOption petscs("-pc_asm_overlap", overlap), ours("-pc_trireme_ilu_overlap", overlap);
    make_laplacian(KSPGMRES, PCASM);
    expect_solved("PETSc's blocks");
    const PetscInt of_petsc = iterations();
    make_laplacian(KSPGMRES, PCTRIREMEILU);
    expect_solved("ours");
    EXPECT_NEAR(static_cast<double>(iterations()), static_cast<double>(of_petsc), 1) << overlap;
  }
}

TEST_F(IncompleteFactorsPcTest, RenewsItsNumbersForNewValuesAndKeepsThemWhereItIsTold) {
  for (const char* type : {"trireme_bicgstab", KSPBCGS}) {
    make_laplacian(type, PCTRIREMEILU);
    expect_solved(type);
    const PetscInt before = iterations();
    scale(1 << 20);
    expect_solved(type);
    EXPECT_EQ(iterations(), before);
    EXPECT_EQ(data().builds, 1);
    EXPECT_EQ(data().renewals, 1);
    petsc_check(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    scale(2);
    expect_solved(type);
    EXPECT_EQ(data().renewals, 1);
  }
}

TEST_F(IncompleteFactorsPcTest, ServesANegativeDefiniteMatrix) {
  for (const char* type : {"trireme_cg", KSPCG}) {
    make_laplacian(type, PCTRIREMEICC);
    expect_solved(type);
    const PetscInt of_positive = iterations();
    make_laplacian(type, PCTRIREMEICC, -1);
    expect_solved(type);
    EXPECT_TRUE(data().negated());
    EXPECT_EQ(iterations(), of_positive) << type;
  }
}

TEST_F(IncompleteFactorsPcTest, TakesLevelsAndOrderFromTheOptions) {
  make_laplacian("trireme_bicgstab", PCTRIREMEILU);
  expect_solved("no fill");
  const PetscInt without = iterations();
  const PetscOption levels("-pc_trireme_ilu_levels", "2"), order("-pc_trireme_ilu_order", "rcm");
  petsc_check(KSPSetFromOptions(ksp));
  expect_solved("fill");
  EXPECT_LT(iterations(), without);
  EXPECT_EQ(data().options.levels, 2);
  EXPECT_EQ(data().options.order, factors::RowOrder::rcm);
  EXPECT_EQ(data().facts()->choice.order, factors::RowOrder::rcm);
  EXPECT_EQ(data().builds, 2);
}

TEST_F(IncompleteFactorsPcTest, SaysWhatItIs) {
  make_laplacian("trireme_bicgstab", PCTRIREMEILU);
  expect_solved("no fill");
  const std::string view = view_of_pc();
  if (!is_first_rank()) return;
  EXPECT_NE(view.find("incomplete factors, 0 levels of fill, order given"), std::string::npos)
      << view;
  EXPECT_NE(view.find("nonzeros in FP32"), std::string::npos) << view;
  EXPECT_NE(view.find("built 1 times, renewed 0 times"), std::string::npos) << view;
}

}  // namespace
}  // namespace trireme
