// SPDX-License-Identifier: BSD-3-Clause
// Wherever PETSc's KSP type of a method works, ours works: with any PC, with null spaces, and with
// requests that the resident loop does not serve.
#include <gtest/gtest.h>
#include <petscdmda.h>
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "parallel/collective.hpp"
#include "petsc/ksp_fixture.hpp"
#include "petsc/pc/pc_multigrid.hpp"

namespace trireme {
namespace {

using namespace test;

struct Types {
  const char *ours, *petscs;
  solvers::Method method;
};
constexpr std::array kTypes = {Types{"trireme_cg", KSPCG, solvers::Method::cg},
                               Types{"trireme_bicgstab", KSPBCGS, solvers::Method::bicgstab},
                               Types{"trireme_gmres", KSPGMRES, solvers::Method::gmres},
                               Types{"trireme_minres", KSPMINRES, solvers::Method::minres}};

// With Neumann conditions on all sides: the null space is that of equal values.
MatHandle neumann(PetscInt n) {
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, nullptr,
                           5, nullptr, a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt x = row % n, y = row / n;
    double diagonal = 0;
    const auto put = [&](bool inside, PetscInt column) {
      if (!inside) return;
      petsc_check(MatSetValue(a, row, column, -1, INSERT_VALUES));
      ++diagonal;
    };
    put(y > 0, row - n);
    put(x > 0, row - 1);
    put(x + 1 < n, row + 1);
    put(y + 1 < n, row + n);
    petsc_check(MatSetValue(a, row, row, diagonal, INSERT_VALUES));
  }
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  MatNullSpace constants = nullptr;
  petsc_check(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  petsc_check(MatSetNullSpace(a, constants));
  petsc_check(MatNullSpaceDestroy(&constants));
  return a;
}

class AnyPc : public ResidentKsp {
 protected:
  // The reason of a solve by `type` with the PC, whose norm is that of b - A x.
  KSPConvergedReason solve_with(const char* type, const char* pc_type) {
    MatHandle matrix = grid(36);
    if (std::string(pc_type) == PCFIELDSPLIT) petsc_check(MatSetBlockSize(matrix, 2));
    make(std::move(matrix), type, pc_type);
    if (std::string(type) != KSPMINRES) petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    return solve();
  }
  PC pc() {
    PC of_ksp = nullptr;
    petsc_check(KSPGetPC(ksp, &of_ksp));
    return of_ksp;
  }
};

TEST_F(AnyPc, TakesAsManyIterationsAsInPetscsLoop) {
  option("-pc_fieldsplit_type", "additive");
  option("-ksp_ksp_type", "preonly");
  option("-ksp_pc_type", "bjacobi");
  const bool alone = size_of(PETSC_COMM_WORLD) == 1;
  for (const char* pc_type : {PCICC, PCILU, PCLU, PCCHOLESKY, PCBJACOBI, PCASM, PCSOR, PCEISENSTAT,
                              PCGAMG, PCMG, PCFIELDSPLIT, PCKSP, PCREDUNDANT, PCNONE}) {
    const std::string name = pc_type;
    const bool is_serial =
        name == PCICC || name == PCILU || name == PCLU || name == PCCHOLESKY || name == PCEISENSTAT;
    if (is_serial && !alone) continue;
    SCOPED_TRACE(name);
    for (const Types& types : kTypes) {
      SCOPED_TRACE(types.ours);
      const KSPConvergedReason expected = solve_with(types.petscs, pc_type);
      const PetscInt iterations_of_petsc = iterations();
      EXPECT_EQ(solve_with(types.ours, pc_type), expected);
      EXPECT_GT(expected, 0);
      // Eisenstat's trick changes the system, whose norm is the one that is tested.
      if (name != PCEISENSTAT) {
        EXPECT_LE(relative_residual(), 1.0001e-9);
      }
      if (types.method == solvers::Method::minres) continue;  // PETSc's tests another norm
      EXPECT_NEAR(iterations(), iterations_of_petsc,
                  std::max<PetscInt>(1, iterations_of_petsc / 4));
    }
  }
}

TEST_F(AnyPc, TheDefaultOfPetscServes) {
  for (const Types& types : kTypes) {
    make(grid(20), types.ours, PCNONE);
    petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
    petsc_check(KSPSetOperators(ksp, a, a));
    option("-ksp_type", types.ours);
    EXPECT_GT(solve(), 0);
    EXPECT_LE(relative_residual(), 1.0001e-5);
    EXPECT_LE(iterations(), 20);
  }
}

TEST_F(AnyPc, NullSpacesAreRemovedAsByPetsc) {
  for (const char* pc_type : {PCNONE, PCJACOBI, PCBJACOBI, PCGAMG, kTriremeMultigrid})
    for (const Types& types : kTypes) {
      SCOPED_TRACE(fmt::format("{} {}", pc_type, types.ours));
      // A right-hand side with a part that no x gives; methods of nonsymmetric matrices are told of
      // the other null space.
      make(neumann(24), KSPCG, pc_type);
      MatNullSpace constants = nullptr;
      petsc_check(MatGetNullSpace(a, &constants));
      if (!solvers::info_of(types.method).symmetric)
        petsc_check(MatSetTransposeNullSpace(a, constants));
      petsc_check(VecShift(b, 10));
      VecHandle consistent;
      petsc_check(VecDuplicate(b, consistent.put()));
      petsc_check(VecCopy(b, consistent));
      petsc_check(MatNullSpaceRemove(constants, consistent));
      petsc_check(KSPSetType(ksp, types.ours));
      EXPECT_GT(solve(), 0);
      const PetscInt ours = iterations();
      PetscReal mean = 0, size = 0;
      petsc_check(VecSum(x, &mean));
      petsc_check(VecNorm(x, NORM_1, &size));
      EXPECT_LE(std::abs(mean), 1e-10 * size);
      std::swap(b, consistent);
      EXPECT_LE(relative_residual(), 1.0001e-9);
      petsc_check(KSPSetType(ksp, KSPCG));
      petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      EXPECT_GT(solve(), 0);
      if (types.method == solvers::Method::cg) {
        EXPECT_NEAR(ours, iterations(), 1);
      }
      if (!solvers::info_of(types.method).restarts) {
        EXPECT_LE(ours, iterations() + 3);
      }
    }
}

TEST_F(AnyPc, ManyRightHandSidesAreSolvedWithIt) {
  for (const bool singular : {false, true}) {
    SCOPED_TRACE(singular);
    make(singular ? neumann(20) : grid(20), "trireme_cg", PCBJACOBI);
    MatHandle many, solutions;
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(a, &rows, nullptr));
    petsc_check(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, 400, 3, nullptr, many.put()));
    petsc_check(MatSetRandom(many, nullptr));
    petsc_check(MatDuplicate(many, MAT_DO_NOT_COPY_VALUES, solutions.put()));
    petsc_check(KSPSetFromOptions(ksp));
    petsc_check(KSPMatSolve(ksp, many, solutions));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    for (PetscInt j = 0; j < 3; ++j) {
      Vec column = nullptr;
      petsc_check(MatDenseGetColumnVecRead(many, j, &column));
      petsc_check(VecCopy(column, b));
      petsc_check(MatDenseRestoreColumnVecRead(many, j, &column));
      petsc_check(MatDenseGetColumnVecRead(solutions, j, &column));
      petsc_check(VecCopy(column, x));
      petsc_check(MatDenseRestoreColumnVecRead(solutions, j, &column));
      MatNullSpace constants = nullptr;
      petsc_check(MatGetNullSpace(a, &constants));
      if (constants) petsc_check(MatNullSpaceRemove(constants, b));
      EXPECT_LE(relative_residual(), 1.0001e-9);
    }
  }
}

// The functions of a program may ask for what its own vectors have.
PetscErrorCode require_dm(Vec vec) {
  DM dm = nullptr;
  PetscFunctionBeginUser;
  PetscCall(VecGetDM(vec, &dm));
  PetscCheck(dm, comm_of(vec), PETSC_ERR_USER, "a vector without its DM");
  PetscFunctionReturn(kPetscSuccess);
}
PetscErrorCode multiply_with_dm(Mat shell, Vec x, Vec y) {
  void* matrix = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(shell, &matrix));
  PetscCall(require_dm(x));
  PetscCall(require_dm(y));
  PetscCall(MatMult(static_cast<Mat>(matrix), x, y));
  PetscFunctionReturn(kPetscSuccess);
}
PetscErrorCode halve_with_dm(PC, Vec r, Vec z) {
  PetscFunctionBeginUser;
  PetscCall(require_dm(r));
  PetscCall(require_dm(z));
  PetscCall(VecCopy(r, z));
  PetscCall(VecScale(z, 0.5));
  PetscFunctionReturn(kPetscSuccess);
}

TEST_F(AnyPc, FunctionsOfTheProgramSeeItsVectors) {
  for (const Types& types : kTypes) {
    make(grid(12), types.ours, PCSHELL);
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(a, &rows, nullptr));
    MatHandle shell;
    petsc_check(
        MatCreateShell(PETSC_COMM_WORLD, rows, rows, 144, 144, static_cast<Mat>(a), shell.put()));
    petsc_check(MatShellSetOperation(shell, MATOP_MULT, petsc_operation(multiply_with_dm)));
    PetscMPIInt ranks = 1;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    std::vector<PetscInt> owned(static_cast<std::size_t>(ranks));
    MPI_Allgather(&rows, 1, MPIU_INT, owned.data(), 1, MPIU_INT, PETSC_COMM_WORLD);
    PetscHandle<DM, DMDestroy> dm;
    petsc_check(
        DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 144, 1, 1, owned.data(), dm.put()));
    petsc_check(DMSetUp(dm));
    petsc_check(DMCreateGlobalVector(dm, x.put()));
    petsc_check(VecDuplicate(x, b.put()));
    petsc_check(VecSetRandom(b, nullptr));
    petsc_check(KSPSetOperators(ksp, shell, shell));
    petsc_check(PCShellSetApply(pc(), halve_with_dm));
    EXPECT_GT(solve(), 0);
    EXPECT_LE(relative_residual(), 1.0001e-9);
    petsc_check(KSPReset(ksp));  // it refers to the shell
  }
}

TEST_F(AnyPc, SingularValuesAreThoseOfPetscsLoop) {
  std::array<double, 3> expected{};
  for (const char* type : {KSPCG, "trireme_cg"}) {
    make(grid(20), type, PCJACOBI);
    petsc_check(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
    for (int repeated = 0; repeated < 2; ++repeated) EXPECT_GT(solve(), 0);
    std::array<double, 3> found{};
    std::array<double, 200> real{}, imaginary{};
    PetscInt count = 0;
    petsc_check(KSPComputeExtremeSingularValues(ksp, &found[0], &found[1]));
    petsc_check(KSPComputeEigenvalues(ksp, 200, real.data(), imaginary.data(), &count));
    ASSERT_EQ(count, iterations());
    found[2] = real[0];
    if (std::string(type) == KSPCG) {
      expected = found;
      continue;
    }
    EXPECT_GT(found[0], found[1]);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], 1e-9 * found[0]);
    petsc_check(KSPSetComputeSingularValues(ksp, PETSC_FALSE));
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
    EXPECT_GT(solve(), 0);
    EXPECT_EQ(ksp_facts(ksp)->executor, "host") << "the resident loop serves again";
  }
}

TEST_F(AnyPc, WhatTheLoopLacksPetscsLoopDoes) {
  struct Wish {
    const char *option, *value;
  };
  for (const Wish& wish :
       {Wish{"-ksp_lag_norm", nullptr}, Wish{"-ksp_diagonal_scale", nullptr},
        Wish{"-ksp_norm_type", "preconditioned"}, Wish{"-ksp_pc_side", "left"}}) {
    SCOPED_TRACE(wish.option);
    for (const Types& types : kTypes) {
      SCOPED_TRACE(types.ours);
      option(wish.option, wish.value);
      option("-ksp_diagonal_scale_fix");
      make(grid(20), types.petscs, PCBJACOBI);
      EXPECT_GT(solve(), 0);
      const PetscInt expected = iterations();
      make(grid(20), types.ours, PCBJACOBI);
      EXPECT_GT(solve(), 0);
      EXPECT_LE(relative_residual(), 1e-7);
      EXPECT_NEAR(iterations(), expected, 1 + expected / 4);
      petsc_check(PetscOptionsClear(nullptr));
    }
  }
  for (const Types& types : kTypes) {
    make(grid(20), types.ours, PCBJACOBI);
    petsc_check(KSPSetFromOptions(ksp));
    petsc_check(KSPSolveTranspose(ksp, b, x));
    EXPECT_LE(relative_residual(), 1e-7);  // the matrix is symmetric
    EXPECT_NE(ksp_facts(ksp)->executor.find("no transposed solves"), std::string::npos);
    EXPECT_GT(solve(), 0);
    EXPECT_EQ(ksp_facts(ksp)->executor, "host");
  }
}

// BiCGSTAB of the resident loop preconditions from the right.
TEST_F(AnyPc, TheSideIsPartOfTheWish) {
  for (const PCSide side : {PC_LEFT, PC_RIGHT}) {
    make(grid(10), "trireme_bicgstab", PCJACOBI);
    petsc_check(KSPSetPCSide(ksp, side));
    petsc_check(KSPSetNormType(ksp, KSP_NORM_NONE));
    petsc_check(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 5));
    static_cast<void>(solve());
    EXPECT_EQ(ksp_facts(ksp)->executor == "host", side == PC_RIGHT);
    EXPECT_EQ(iterations(), 5);
  }
}

TEST_F(AnyPc, UnreadOptionsAreLeftToPetsc) {
  for (const char* name :
       {"-ksp_cg_single_reduction", "-ksp_gmres_restart", "-ksp_trireme_varaint"}) {
    petsc_check(PetscOptionsClear(nullptr));
    option(name, "1");
    make(grid(10), "trireme_cg", PCJACOBI);
    EXPECT_GT(solve(), 0) << name;
    EXPECT_EQ(ksp_facts(ksp)->executor, "host");
  }
}

TEST_F(AnyPc, AFailedPreconditionerIsSaid) {
  for (const Types& types : kTypes)
    for (const char* type : {types.petscs, types.ours}) {
      make(grid(10), type, PCBJACOBI);
      option("-sub_pc_type", "lu");
      petsc_check(MatZeroEntries(a));
      EXPECT_EQ(solve(), KSP_DIVERGED_PC_FAILED) << type;
    }
}

TEST_F(AnyPc, ATypeThatWorksInTheResidentLoopAloneIsRefusedElsewhere) {
  const auto refusal = [&](MatHandle matrix, const char* type) -> std::string {
    make(std::move(matrix), type, "trireme_chebyshev");
    try {
      static_cast<void>(solve());
    } catch (const Error& error) {
      return error.what();
    }
    return "served";
  };
  const std::string advice = "use another PC, such as jacobi or trireme_mg";
  const std::string singular = refusal(neumann(10), "trireme_cg");
  EXPECT_NE(singular.find(advice), std::string::npos) << singular;
  const std::string unsymmetric = refusal(grid(10, 2), "trireme_bicgstab");
  EXPECT_NE(unsymmetric.find("use it with trireme_cg or trireme_minres, or " + advice),
            std::string::npos)
      << unsymmetric;
}

}  // namespace
}  // namespace trireme
