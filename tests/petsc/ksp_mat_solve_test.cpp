// SPDX-License-Identifier: BSD-3-Clause
// KSPMatSolve of the resident types gives what KSPSolve gives for each column, on 1 and several
// ranks.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "petsc/ksp_fixture.hpp"

namespace trireme {
namespace {

using namespace test;

class MatSolve : public ResidentKsp {
 protected:
  // B of `columns` random columns, and X = 0.
  void make_block(PetscInt columns) {
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(a, &rows, nullptr));
    for (MatHandle* block : {&many_b, &many_x})
      petsc_check(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns,
                                 nullptr, block->put()));
    petsc_check(MatSetRandom(many_b, nullptr));
    petsc_check(MatAssemblyBegin(many_x, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(many_x, MAT_FINAL_ASSEMBLY));
  }
  // Scales column j of B.
  void scale_column(PetscInt j, double by) {
    Vec column = nullptr;
    petsc_check(MatDenseGetColumnVec(many_b, j, &column));
    petsc_check(VecScale(column, by));
    petsc_check(MatDenseRestoreColumnVec(many_b, j, &column));
  }
  KSPConvergedReason mat_solve() {
    petsc_check(KSPSetFromOptions(ksp));
    petsc_check(KSPMatSolve(ksp, many_b, many_x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    return reason;
  }
  // b and x become copies of column j.
  void take_column(PetscInt j) {
    Vec column = nullptr;
    petsc_check(MatDenseGetColumnVecRead(many_b, j, &column));
    petsc_check(VecCopy(column, b));
    petsc_check(MatDenseRestoreColumnVecRead(many_b, j, &column));
    petsc_check(MatDenseGetColumnVecRead(many_x, j, &column));
    petsc_check(VecCopy(column, x));
    petsc_check(MatDenseRestoreColumnVecRead(many_x, j, &column));
  }
  double residual_of_column(PetscInt j) {
    take_column(j);
    return relative_residual();
  }
  // The relative difference between column j of X and what KSPSolve finds.
  double distance_from_single_solve(PetscInt j) {
    take_column(j);
    VecHandle of_block;
    petsc_check(VecDuplicate(x, of_block.put()));
    petsc_check(VecCopy(x, of_block));
    EXPECT_GT(solve(), 0);
    PetscReal distance = 0, norm = 0;
    petsc_check(VecAXPY(of_block, -1, x));
    petsc_check(VecNorm(of_block, NORM_2, &distance));
    petsc_check(VecNorm(x, NORM_2, &norm));
    return distance / norm;
  }

  MatHandle many_b, many_x;
};

TEST_F(MatSolve, GivesWhatKspSolveGivesForEachColumn) {
  for (const char* type :
       {"trireme_cg", "trireme_bicgstab", "trireme_minres", "trireme_block_cg"}) {
    SCOPED_TRACE(type);
    for (const PetscInt columns : {1, 5}) {
      make(grid(20, std::string(type) == "trireme_bicgstab" ? 2 : 0), type, PCJACOBI);
      make_block(columns);
      EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
      const PetscInt of_block = iterations();
      PetscInt most = 0;
      for (PetscInt j = 0; j < columns; ++j) {
        EXPECT_LE(residual_of_column(j), 1.0001e-9);
        EXPECT_LE(distance_from_single_solve(j), 1e-8);
        most = std::max(most, iterations());
      }
      if (std::string(type) != "trireme_block_cg") {
        EXPECT_NEAR(of_block, most, 1 + 0.1 * most);
      } else if (columns > 1) {
        EXPECT_LT(of_block, most) << "the columns have searched in one space";
      }
    }
  }
}

TEST_F(MatSolve, AZeroColumnHasAZeroSolution) {
  make(grid(16), "trireme_cg", PCJACOBI);
  make_block(3);
  scale_column(1, 0);
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL) << "the reason of the column with most iterations";
  take_column(1);
  PetscReal norm = -1;
  petsc_check(VecNorm(x, NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 0);
  EXPECT_LE(residual_of_column(2), 1.0001e-9);
}

TEST_F(MatSolve, TheIterationsAreThoseOfTheLongestColumn) {
  for (const bool at_once : {true, false}) {
    if (!at_once) option("-ksp_monitor_true_residual", "ascii:/dev/null");
    make(grid(16), "trireme_cg", PCJACOBI);
    make_block(2);
    scale_column(1, 0);
    EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
    const PetscInt of_block = iterations();
    petsc_check(PetscOptionsClear(nullptr));
    take_column(0);
    EXPECT_GT(solve(), 0);
    EXPECT_NEAR(of_block, iterations(), 1);
  }
}

TEST_F(MatSolve, ColumnByColumnTheHistoryIsThatOfTheLast) {
  option("-ksp_monitor_true_residual", "ascii:/dev/null");
  make(grid(16), "trireme_cg", PCJACOBI);
  make_block(3);
  petsc_check(KSPSetResidualHistory(ksp, nullptr, 3000, PETSC_TRUE));
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
  const PetscReal* history = nullptr;
  PetscInt length = 0, expected = 0;
  petsc_check(KSPGetResidualHistory(ksp, &history, &length));
  take_column(2);
  petsc_check(VecSet(x, 0));
  EXPECT_GT(solve(), 0);
  petsc_check(KSPGetResidualHistory(ksp, &history, &expected));
  EXPECT_EQ(length, expected);
}

TEST_F(MatSolve, AColumnOfNaNFailsAndTheOthersConverge) {
  for (const char* type :
       {"trireme_cg", "trireme_bicgstab", "trireme_minres", "trireme_block_cg"}) {
    for (const PetscInt failing : {0, 2, 3})
      for (const bool at_once : {true, false}) {
        SCOPED_TRACE(std::string(type) + " " + std::to_string(failing));
        if (!at_once) option("-ksp_monitor_true_residual", "ascii:/dev/null");
        make(grid(16), type, PCJACOBI);
        make_block(4);
        scale_column(failing, std::numeric_limits<double>::quiet_NaN());
        EXPECT_EQ(mat_solve(), KSP_DIVERGED_NANORINF);
        petsc_check(PetscOptionsClear(nullptr));
        PetscReal norm = 0;
        petsc_check(KSPGetResidualNorm(ksp, &norm));
        EXPECT_TRUE(std::isnan(norm));
        for (PetscInt j = 0; j < 4; ++j) {
          if (j == failing) continue;
          EXPECT_LE(residual_of_column(j), 1.0001e-9) << j;
        }
      }
  }
}

TEST_F(MatSolve, AColumnWhoseSquaresVanishIsNoSuccess) {
  make(grid(16), "trireme_cg", PCJACOBI);
  petsc_check(KSPSetTolerances(ksp, 1e-9, 0, PETSC_DEFAULT, PETSC_DEFAULT));
  make_block(3);
  scale_column(1, 1e-170);
  EXPECT_EQ(mat_solve(), KSP_DIVERGED_BREAKDOWN);
  EXPECT_LE(residual_of_column(0), 1.0001e-9);
}

// The second column has the solution 0, and the first one cannot reach what is asked.
TEST_F(MatSolve, TheFactsAreThoseOfTheColumnThatFails) {
  for (const PetscInt batch : {1, 2})
    for (const bool at_once : {true, false}) {
      if (!at_once) option("-ksp_monitor_true_residual", "ascii:/dev/null");
      make(grid(16), "trireme_cg", PCJACOBI);
      petsc_check(KSPSetTolerances(ksp, 1e-30, 0, PETSC_DEFAULT, PETSC_DEFAULT));
      petsc_check(KSPSetMatSolveBatchSize(ksp, batch));
      make_block(2);
      for (const PetscInt failing : {0, 1}) {
        scale_column(1 - failing, 0);
        EXPECT_EQ(mat_solve(), KSP_DIVERGED_BREAKDOWN);
        EXPECT_TRUE(ksp_facts(ksp)->stagnated) << "column " << failing << " of " << batch;
        petsc_check(MatSetRandom(many_b, nullptr));
      }
      petsc_check(PetscOptionsClear(nullptr));
    }
}

TEST_F(MatSolve, BatchesAreSolvedOneAfterAnotherAndNoFailureIsLost) {
  make(grid(16), "trireme_cg", PCJACOBI);
  make_block(7);
  const PetscReal* history = nullptr;
  PetscInt length = 0;
  petsc_check(KSPSetResidualHistory(ksp, nullptr, 3000, PETSC_TRUE));
  mat_solve();
  petsc_check(KSPGetResidualHistory(ksp, &history, &length));
  EXPECT_GT(length, iterations());
  const PetscInt at_once = length;
  for (const PetscInt batch : {1, 3, 7, 100}) {
    petsc_check(MatZeroEntries(many_x));
    petsc_check(KSPSetMatSolveBatchSize(ksp, batch));
    EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL) << batch;
    petsc_check(KSPGetResidualHistory(ksp, &history, &length));
    if (batch < 7) {
      EXPECT_GT(length, 2 * at_once - 10);
    } else {
      EXPECT_EQ(length, at_once);
    }
    for (PetscInt j = 0; j < 7; ++j) EXPECT_LE(residual_of_column(j), 1.0001e-9) << batch;
  }
  petsc_check(KSPSetMatSolveBatchSize(ksp, 3));
  scale_column(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(mat_solve(), KSP_DIVERGED_NANORINF) << "of the first batch of three";
  EXPECT_LE(residual_of_column(6), 1.0001e-9);
  scale_column(1, 0);
  Vec column = nullptr;
  petsc_check(MatDenseGetColumnVecWrite(many_b, 1, &column));
  petsc_check(VecSet(column, 1));
  petsc_check(MatDenseRestoreColumnVecWrite(many_b, 1, &column));
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL) << "no failure stays from the solve before";
}

TEST_F(MatSolve, NonzeroGuessesAreUsed) {
  for (const char* type : {"trireme_cg", "trireme_block_cg"}) {
    make(grid(16), type, PCJACOBI);
    make_block(4);
    EXPECT_GT(mat_solve(), 0);
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    EXPECT_GT(mat_solve(), 0);
    EXPECT_LE(iterations(), 1);
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
    EXPECT_GT(mat_solve(), 0);
    EXPECT_GT(iterations(), 1);
  }
}

TEST_F(MatSolve, NewValuesAreNoticed) {
  make(grid(16), "trireme_cg", PCJACOBI);
  make_block(4);
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
  for (const bool reuse : {false, true}) {
    petsc_check(KSPSetReusePreconditioner(ksp, reuse ? PETSC_TRUE : PETSC_FALSE));
    petsc_check(MatShift(a, 30));
    EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
    EXPECT_LE(residual_of_column(3), 1.0001e-9);
  }
  EXPECT_LE(distance_from_single_solve(2), 1e-8);
  make_block(9);
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL) << "a wider block";
  EXPECT_LE(residual_of_column(8), 1.0001e-9);
}

// The renewed preconditioner is the one that a new solver would have.
TEST_F(MatSolve, ThePreconditionerFollowsNewValues) {
  make(grid(16), "trireme_cg", PCJACOBI);
  make_block(3);
  mat_solve();
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(MatSetValue(a, row, row, 10 * (1 + row % 100), ADD_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  mat_solve();
  const PetscInt renewed = iterations();
  petsc_check(KSPReset(ksp));
  petsc_check(KSPSetOperators(ksp, a, a));
  mat_solve();
  EXPECT_EQ(renewed, iterations());
}

TEST_F(MatSolve, TheLimitAndTheErrorOptionAreKept) {
  make(grid(16), "trireme_bicgstab", PCJACOBI);
  make_block(3);
  petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  EXPECT_EQ(mat_solve(), KSP_DIVERGED_ITS);
  EXPECT_EQ(iterations(), 3);
  petsc_check(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  EXPECT_ANY_THROW(mat_solve());
}

// PETSc's own loop over the columns calls the test and the monitors for each column.
TEST_F(MatSolve, WhatNeedsOneVectorGoesColumnByColumn) {
  option("-ksp_monitor_true_residual", "ascii:/dev/null");
  make(grid(12), "trireme_cg", PCJACOBI);
  make_block(3);
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
  for (PetscInt j = 0; j < 3; ++j) EXPECT_LE(residual_of_column(j), 1.0001e-9);
  petsc_check(PetscOptionsClear(nullptr));

  make(grid(12), "trireme_cg", PCJACOBI);
  make_block(3);
  int tests = 0;
  petsc_check(KSPSetConvergenceTest(
      ksp,
      [](KSP, PetscInt it, PetscReal, KSPConvergedReason* reason, void* count) -> PetscErrorCode {
        ++*static_cast<int*>(count);
        *reason = it >= 4 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
        return kPetscSuccess;
      },
      &tests, nullptr));
  EXPECT_EQ(mat_solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(tests, 3 * 5);
}

TEST_F(MatSolve, MonitorsSeeTheLargestNormOfTheColumns) {
  for (const PetscInt columns : {1, 4}) {
    make(grid(16), "trireme_cg", PCJACOBI);
    make_block(columns);
    scale_column(0, 100);
    std::vector<double> norms;
    petsc_check(KSPMonitorSet(
        ksp,
        [](KSP, PetscInt it, PetscReal norm, void* context) -> PetscErrorCode {
          auto& seen = *static_cast<std::vector<double>*>(context);
          EXPECT_EQ(it, static_cast<PetscInt>(seen.size()));
          seen.push_back(norm);
          return kPetscSuccess;
        },
        &norms, nullptr));
    EXPECT_EQ(mat_solve(), KSP_CONVERGED_RTOL);
    EXPECT_GE(std::ssize(norms), iterations() + 1);
    take_column(0);
    PetscReal norm = 0;
    petsc_check(VecNorm(b, NORM_2, &norm));
    EXPECT_NEAR(norms.front(), norm, 1e-12 * norm);
    EXPECT_LT(norms.back(), 1e-8 * norm);
  }
}

TEST_F(MatSolve, AMonitorThatAsksForTheSolutionIsTold) {
  make(grid(12), "trireme_cg", PCJACOBI);
  make_block(3);
  petsc_check(KSPMonitorSet(
      ksp,
      [](KSP of, PetscInt, PetscReal, void*) -> PetscErrorCode {
        VecHandle r;
        Vec shown = nullptr;
        EXPECT_NE(KSPBuildSolution(of, nullptr, &shown), kPetscSuccess);
        return KSPBuildResidual(of, nullptr, nullptr, r.put());
      },
      nullptr, nullptr));
  petsc_check(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  EXPECT_NE(KSPMatSolve(ksp, many_b, many_x), kPetscSuccess);
  petsc_check(PetscPopErrorHandler());
}

TEST_F(MatSolve, ABlockOfOtherRowsIsRefused) {
  make(grid(12), "trireme_cg", PCJACOBI);
  make_block(2);
  PetscInt rows = 0;
  petsc_check(MatGetLocalSize(a, &rows, nullptr));
  for (MatHandle* wrong : {&many_b, &many_x}) {
    MatHandle longer;
    petsc_check(MatCreateDense(PETSC_COMM_WORLD, rows + 1, PETSC_DECIDE, PETSC_DETERMINE, 2,
                               nullptr, longer.put()));
    petsc_check(MatZeroEntries(longer));
    std::swap(*wrong, longer);
    EXPECT_ANY_THROW(mat_solve());
    std::swap(*wrong, longer);
  }
  const MatHandle other = grid(13);
  petsc_check(KSPReset(ksp));
  petsc_check(KSPSetOperators(ksp, other, other));
  EXPECT_ANY_THROW(mat_solve());
}

}  // namespace
}  // namespace trireme
