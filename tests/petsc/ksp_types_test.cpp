// SPDX-License-Identifier: BSD-3-Clause
// The KSP types of the resident engine keep PETSc's conventions, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <signal.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "parallel/interrupt.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/known_names.hpp"
#include "petsc/ksp_fixture.hpp"

namespace trireme {
namespace {

using namespace test;

TEST_F(ResidentKsp, CgTakesAsManyIterationsAsPetscs) {
  for (const KSPNormType norm :
       {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL}) {
    for (const char* pc : {PCNONE, PCJACOBI}) {
      make(grid(40), KSPCG, pc);
      petsc_check(KSPSetNormType(ksp, norm));
      EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
      const PetscInt expected = iterations();
      for (const char* variant : {"classic", "single_reduction"}) {
        option("-ksp_trireme_variant", variant);
        make(grid(40), "trireme_cg", pc);
        petsc_check(KSPSetNormType(ksp, norm));
        EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
        EXPECT_NEAR(iterations(), expected, 1);
        if (norm == KSP_NORM_UNPRECONDITIONED) {
          EXPECT_LE(relative_residual(), 1.0001e-9);
        }
        EXPECT_EQ(ksp_facts(ksp)->variant, variant);
      }
      petsc_check(PetscOptionsClear(nullptr));
    }
  }
}

TEST_F(ResidentKsp, BicgstabConvergesLikePetscs) {
  for (const char* pc : {PCNONE, PCJACOBI}) {
    make(grid(40, 2), KSPBCGS, pc);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
    const PetscInt expected = iterations();
    make(grid(40, 2), "trireme_bicgstab", pc);
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
    EXPECT_NEAR(iterations(), expected, 0.25 * expected);
    EXPECT_LE(relative_residual(), 1.0001e-9);
  }
}

// Makes the rows of the edge of grid(n), and b there, `size` times as large.
void make_edge_huge(Mat a, Vec b, PetscInt n, double size) {
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt u = row % n, v = row / n;
    if (u > 0 && v > 0 && u + 1 < n && v + 1 < n) continue;
    PetscScalar value = 0;
    petsc_check(VecGetValues(b, 1, &row, &value));
    petsc_check(VecSetValue(b, row, size * value, INSERT_VALUES));
    petsc_check(MatSetValue(a, row, row, size, INSERT_VALUES));
  }
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  petsc_check(VecAssemblyBegin(b));
  petsc_check(VecAssemblyEnd(b));
}

// By default ours is as strict as PETSc's preconditioned norm; the norm of b - A x, where a user
// asks for it, is that of the huge rows.
TEST_F(ResidentKsp, MinresTakesJacobiOfTheMagnitudes) {
  make(grid(30), "trireme_minres", PCJACOBI);
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    if (row % 5 == 0) petsc_check(MatSetValue(a, row, row, -9, INSERT_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  petsc_check(KSPSetOperators(ksp, a, a));
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
  EXPECT_LE(relative_residual(), 1.001e-9);
  const PetscInt with_magnitudes = iterations();
  option("-pc_jacobi_abs");
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(iterations(), with_magnitudes);
}

TEST_F(ResidentKsp, HugeRowsDoNotHideTheOthers) {
  constexpr PetscInt n = 30;
  const auto error = [&] {
    VecHandle exact;
    petsc_check(VecDuplicate(x, exact.put()));
    KspHandle direct;
    PC pc = nullptr;
    PetscReal of_error = 0, of_x = 0;
    petsc_check(KSPCreate(PETSC_COMM_WORLD, direct.put()));
    petsc_check(KSPSetOperators(direct, a, a));
    petsc_check(KSPSetType(direct, KSPCG));
    petsc_check(KSPGetPC(direct, &pc));
    petsc_check(PCSetType(pc, PCJACOBI));
    petsc_check(KSPSetTolerances(direct, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
    petsc_check(KSPSolve(direct, b, exact));
    petsc_check(VecNorm(exact, NORM_INFINITY, &of_x));
    petsc_check(VecAXPY(exact, -1, x));
    petsc_check(VecNorm(exact, NORM_INFINITY, &of_error));
    return of_error / of_x;
  };
  for (const char* type : {"trireme_cg", "trireme_bicgstab", "trireme_minres", "trireme_block_cg"})
    for (const double size : {1e8, 1e30}) {
      SCOPED_TRACE(type);
      make(grid(n), type, PCJACOBI);
      make_edge_huge(a, b, n, size);
      EXPECT_GT(solve(), 0);
      EXPECT_GT(iterations(), 10);
      EXPECT_LE(error(), 1e-6);
      petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      EXPECT_GT(solve(), 0);
      EXPECT_LE(iterations(), 8) << "PETSc's meaning of this norm";
      EXPECT_GE(error(), 1e-3);
    }
}

// Nor where the entries are those of another type of matrix, or of Pmat alone.
TEST_F(ResidentKsp, HugeRowsOfEveryAssembledTypeAreSeen) {
  constexpr PetscInt n = 30;
  for (const char* type : {MATAIJ, MATBAIJ, MATSBAIJ, MATSHELL}) {
    SCOPED_TRACE(type);
    make(grid(n), "trireme_cg", PCJACOBI);
    make_edge_huge(a, b, n, 1e8);
    MatHandle other;
    if (std::string(type) == MATSHELL) {
      PetscInt rows = 0;
      petsc_check(MatGetLocalSize(a, &rows, nullptr));
      petsc_check(MatCreateShell(PETSC_COMM_WORLD, rows, rows, n * n, n * n, static_cast<Mat>(a),
                                 other.put()));
      const auto multiply = [](Mat shell, Vec from, Vec into) -> PetscErrorCode {
        void* matrix = nullptr;
        PetscFunctionBeginUser;
        PetscCall(MatShellGetContext(shell, &matrix));
        PetscCall(MatMult(static_cast<Mat>(matrix), from, into));
        PetscFunctionReturn(kPetscSuccess);
      };
      petsc_check(MatShellSetOperation(other, MATOP_MULT, petsc_operation(+multiply)));
      petsc_check(KSPSetOperators(ksp, other, a));
    } else {
      petsc_check(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
      petsc_check(MatConvert(a, type, MAT_INITIAL_MATRIX, other.put()));
      petsc_check(KSPSetOperators(ksp, other, other));
    }
    EXPECT_GT(solve(), 0);
    EXPECT_GT(iterations(), 10);
    petsc_check(KSPReset(ksp));
  }
}

TEST_F(ResidentKsp, WithTheOptionRtolIsRelativeToTheSmallerOfBAndTheFirstResidual) {
  for (const char* type : {"trireme_cg", "trireme_bicgstab"}) {
    make(grid(40), type, PCJACOBI);
    EXPECT_GT(solve(), 0);
    petsc_check(KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    EXPECT_GT(solve(), 0);
    EXPECT_EQ(iterations(), 0) << "the guess meets rtol relative to b";
    option("-ksp_converged_use_min_initial_residual_norm");
    EXPECT_GT(solve(), 0);
    EXPECT_GT(iterations(), 0);
    EXPECT_LE(relative_residual(), 1.01e-12);
    petsc_check(PetscOptionsClear(nullptr));
  }
}

TEST_F(ResidentKsp, ARightHandSideWhoseSquaresVanishIsNoSuccess) {
  for (const char* type : {"trireme_cg", "trireme_bicgstab"})
    for (const double size : {1e-170, 1e-155}) {
      make(grid(20), type, PCJACOBI);
      petsc_check(VecSet(b, size));
      petsc_check(KSPSetTolerances(ksp, 1e-9, 0, PETSC_DEFAULT, PETSC_DEFAULT));
      const KSPConvergedReason reason = solve();
      VecHandle r;
      PetscReal largest = 0;
      petsc_check(VecDuplicate(b, r.put()));
      petsc_check(MatMult(a, x, r));
      petsc_check(VecAYPX(r, -1, b));
      petsc_check(VecNorm(r, NORM_INFINITY, &largest));
      EXPECT_EQ(reason > 0, largest <= 20 * 1e-9 * size) << type << " " << size << " " << largest;
    }
}

// The norms that a monitor was told, and the system by which the monitor checks them.
struct Seen {
  std::vector<double> norms;
  Vec b;
  Mat a;
};
PetscErrorCode look(KSP ksp, PetscInt it, PetscReal norm, void* context) {
  auto& seen = *static_cast<Seen*>(context);
  EXPECT_EQ(it, static_cast<PetscInt>(seen.norms.size()));
  seen.norms.push_back(norm);
  VecHandle r;
  Vec shown = nullptr;
  PetscReal residual = 0, of_shown = 0, of_copy = 0;
  petsc_check(KSPBuildSolution(ksp, nullptr, &shown));
  petsc_check(VecDuplicate(shown, r.put()));
  petsc_check(MatMult(seen.a, shown, r));
  petsc_check(VecAYPX(r, -1, seen.b));
  petsc_check(VecNorm(r, NORM_2, &residual));
  EXPECT_NEAR(residual, norm, 1e-10 * seen.norms.front());
  petsc_check(VecSet(r, 0));
  petsc_check(VecAXPY(r, 1, shown));
  petsc_check(VecNorm(r, NORM_2, &of_copy));
  petsc_check(VecNorm(shown, NORM_2, &of_shown));  // wrong if PETSc still has an old norm
  EXPECT_NEAR(of_shown, of_copy, 1e-12 * of_copy);
  return kPetscSuccess;
}

TEST_F(ResidentKsp, HistoryMonitorAndBuildSolutionBelongTogether) {
  for (const char* type : {"trireme_cg", "trireme_bicgstab"}) {
    SCOPED_TRACE(type);
    make(grid(20), type, PCJACOBI);
    Seen seen{{}, b, a};
    petsc_check(KSPMonitorSet(ksp, look, &seen, nullptr));
    petsc_check(KSPSetResidualHistory(ksp, nullptr, 3000, PETSC_TRUE));
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
    const PetscReal* history = nullptr;
    PetscInt length = 0;
    petsc_check(KSPGetResidualHistory(ksp, &history, &length));
    EXPECT_EQ(std::vector<double>(history, history + length), seen.norms);
    EXPECT_EQ(length, iterations() + 1);
  }
}

// If the error handler returns, KSPBuildSolution works after the failed solve.
TEST_F(ResidentKsp, AMonitorThatFailsEndsTheSolve) {
  make(grid(20), "trireme_cg", PCJACOBI);
  petsc_check(KSPMonitorSet(
      ksp,
      [](KSP, PetscInt it, PetscReal, void*) -> PetscErrorCode {
        return it == 3 ? PETSC_ERR_USER : kPetscSuccess;
      },
      nullptr, nullptr));
  petsc_check(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  EXPECT_NE(KSPSolve(ksp, b, x), kPetscSuccess);
  petsc_check(PetscPopErrorHandler());
  Vec shown = nullptr;
  petsc_check(KSPBuildSolution(ksp, nullptr, &shown));
  EXPECT_EQ(shown, static_cast<Vec>(x));
}

TEST_F(ResidentKsp, TrueResidualMonitorWorks) {
  option("-ksp_monitor_true_residual", "ascii:/dev/null");
  make(grid(12), "trireme_cg", PCJACOBI);
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
}

TEST_F(ResidentKsp, OwnConvergenceTestIsAsked) {
  make(grid(30), "trireme_bicgstab", PCJACOBI);
  petsc_check(KSPSetConvergenceTest(
      ksp,
      [](KSP, PetscInt it, PetscReal, KSPConvergedReason* reason, void*) -> PetscErrorCode {
        *reason = it >= 4 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
        return kPetscSuccess;
      },
      nullptr, nullptr));
  EXPECT_EQ(solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(iterations(), 4);
  petsc_check(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 4));
  EXPECT_EQ(solve(), KSP_CONVERGED_ITS);  // the user's test outranks the limit
}

// One row of the other rows' size times 1e6 would bring the scaled norm in by default.
TEST_F(ResidentKsp, OwnConvergenceTestIsToldThePlainNorm) {
  make(grid(10), "trireme_cg", PCJACOBI);
  PetscInt first = 0;
  petsc_check(MatGetOwnershipRange(a, &first, nullptr));
  if (first == 0) petsc_check(MatSetValue(a, 0, 0, 4e6, INSERT_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  petsc_check(KSPSetOperators(ksp, a, a));
  double told = 0;
  petsc_check(KSPSetConvergenceTest(
      ksp,
      [](KSP, PetscInt it, PetscReal norm, KSPConvergedReason* reason, void* to) -> PetscErrorCode {
        *static_cast<double*>(to) = norm;
        *reason = it >= 3 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
        return kPetscSuccess;
      },
      &told, nullptr));
  EXPECT_EQ(solve(), KSP_CONVERGED_ITS);
  PetscReal norm_b = 0;
  petsc_check(VecNorm(b, NORM_2, &norm_b));
  EXPECT_NEAR(told / norm_b, relative_residual(), 1e-9 * relative_residual());
}

TEST_F(ResidentKsp, GmresTakesTheIterationsOfPetscsWithEachRestart) {
  for (const char* restart : {"1", "5", "30"}) {
    SCOPED_TRACE(restart);
    option("-ksp_trireme_restart", restart);
    option("-ksp_gmres_restart", restart);
    PetscInt of_petsc = 0;
    for (const char* type : {KSPGMRES, "trireme_gmres"}) {
      make(grid(30), type, PCJACOBI);
      petsc_check(KSPSetPCSide(ksp, PC_RIGHT));
      EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << type;
      EXPECT_LE(relative_residual(), 1.01e-9) << type;
      if (type != std::string("trireme_gmres")) of_petsc = iterations();
    }
    EXPECT_NEAR(iterations(), of_petsc, 1 + of_petsc / 50);
    EXPECT_EQ(ksp_facts(ksp)->executor, "host");
  }
}

TEST_F(ResidentKsp, GmresLeavesMonitorsOfTheSolutionToPetscsLoop) {
  option("-ksp_monitor_true_residual", "ascii:/dev/null");
  option("-ksp_trireme_restart", "7");
  make(grid(20), "trireme_gmres", PCJACOBI);
  EXPECT_GT(solve(), 0);
  EXPECT_NE(ksp_facts(ksp)->executor.find("PETSc's own loop (gmres)"), std::string::npos);
  EXPECT_NE(ksp_facts(ksp)->executor.find("at the end of a cycle"), std::string::npos);
}

TEST_F(ResidentKsp, ASkippedTestRunsToTheLimit) {
  option("-ksp_convergence_test", "skip");
  make(grid(30), "trireme_cg", PCJACOBI);
  petsc_check(KSPSetTolerances(ksp, 1e-1, PETSC_DEFAULT, PETSC_DEFAULT, 25));
  EXPECT_EQ(solve(), KSP_CONVERGED_ITS);
  EXPECT_EQ(iterations(), 25);
}

// PETSc's own CG must give the same reason.
TEST_F(ResidentKsp, WithoutANormTheLimitIsNoSuccess) {
  make(grid(30), "trireme_cg", PCJACOBI);
  petsc_check(KSPSetNormType(ksp, KSP_NORM_NONE));
  petsc_check(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 5));
  const KSPConvergedReason ours = solve();
  petsc_check(KSPSetType(ksp, KSPCG));
  EXPECT_EQ(solve(), ours);
}

TEST_F(ResidentKsp, NonzeroGuessIsUsed) {
  make(grid(30), "trireme_cg", PCJACOBI);
  solve();
  petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  EXPECT_GT(solve(), 0);
  EXPECT_LE(iterations(), 1);
}

// A guess that is not read may hold anything. PETSc's own loops, which take it, get zeros.
TEST_F(ResidentKsp, AnIgnoredGuessIsZero) {
  make(grid(30), "trireme_cg", PCJACOBI);
  ASSERT_EQ(solve(), KSP_CONVERGED_RTOL);
  const PetscInt from_zero = iterations();
  petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  petsc_check(VecSet(x, 1e300));
  ksp_ignore_guess(ksp);
  ASSERT_EQ(solve(), KSP_CONVERGED_RTOL);
  EXPECT_EQ(iterations(), from_zero);
  EXPECT_LE(relative_residual(), 1.001e-9);
  EXPECT_GT(solve(), 0);
  EXPECT_LE(iterations(), 1) << "the next guess is read";
  petsc_check(VecSet(x, 1e300));
  ksp_ignore_guess(ksp);
  petsc_check(KSPSolveTranspose(ksp, b, x));  // by PETSc's loop
  EXPECT_LE(relative_residual(), 1e-7);
}

TEST_F(ResidentKsp, NewValuesAreNoticed) {
  make(grid(20), "trireme_cg", PCJACOBI);
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
  petsc_check(MatShift(a, 3));
  petsc_check(MatDiagonalScale(a, nullptr, nullptr));
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
  EXPECT_LE(relative_residual(), 1.0001e-9);
}

TEST_F(ResidentKsp, ReasonsArePetscs) {
  make(grid(30), "trireme_cg", PCJACOBI);
  petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  EXPECT_EQ(solve(), KSP_DIVERGED_ITS);
  make(grid(30), "trireme_cg", PCNONE);
  petsc_check(VecSet(b, 0));
  EXPECT_EQ(solve(), KSP_CONVERGED_ATOL);
  make(grid(30), "trireme_cg", PCNONE);
  petsc_check(MatShift(a, -5));
  EXPECT_EQ(solve(), KSP_DIVERGED_INDEFINITE_MAT);
  make(grid(30), "trireme_bicgstab", PCNONE);
  petsc_check(VecSetValue(b, 0, std::nan(""), INSERT_VALUES));
  petsc_check(VecAssemblyBegin(b));
  petsc_check(VecAssemblyEnd(b));
  EXPECT_EQ(solve(), KSP_DIVERGED_NANORINF);
}

TEST_F(ResidentKsp, StopsWhenOneRankAsks) {
  make(grid(60), "trireme_cg", PCJACOBI);
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  int asked = 0;
  ksp_set_stop(ksp, [&] { return rank == 0 && ++asked > 10; });
  EXPECT_LT(solve(), 0);
  EXPECT_TRUE(ksp_facts(ksp)->stopped);
  EXPECT_LT(relative_residual(), 1);
}

TEST_F(ResidentKsp, ASignalOnOneRankStopsAll) {
  make(grid(60), "trireme_bicgstab", PCNONE);
  InterruptGuard interrupts;
  interrupts.begin();
  ksp_set_stop(ksp, &InterruptGuard::asked);
  petsc_check(KSPMonitorSet(
      ksp,
      [](KSP, PetscInt it, PetscReal, void*) -> PetscErrorCode {
        PetscMPIInt rank = 0;
        MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
        if (it == 3 && rank == 0) raise(SIGTERM);
        return kPetscSuccess;
      },
      nullptr, nullptr));
  EXPECT_LT(solve(), 0);
  EXPECT_TRUE(ksp_facts(ksp)->stopped);
  EXPECT_LE(iterations(), 5);
}

TEST(EngineChoice, SaysByNamesWhatTheResidentLoopLacks) {
  const auto reason = [](const char* method, const char* preconditioner) {
    const EngineChoice choice = choose_engine(method, AnyPreconditioner(preconditioner));
    EXPECT_EQ(choice.resident(), choice.reason == EngineReason::serves);
    EXPECT_EQ(choice.resident(), describe(choice).empty());
    return choice.reason;
  };
  EXPECT_EQ(reason("cg", "sor"), EngineReason::preconditioner);
  EXPECT_EQ(reason("cg", "bjacobi"), EngineReason::petsc_block_jacobi);
  EXPECT_EQ(reason("cg", "vpbjacobi"), EngineReason::serves);
  EXPECT_EQ(reason("fgmres", "jacobi"), EngineReason::method);
  EXPECT_EQ(reason("bicgstab", "trireme_chebyshev"), EngineReason::symmetric_preconditioner);
  EXPECT_EQ(reason("minres", "spai"), EngineReason::nonsymmetric_preconditioner);
  EXPECT_EQ(reason("bicgstab", "jacobi"), EngineReason::serves);
  EXPECT_EQ(choose_engine("fgmres", AnyPreconditioner("jacobi")).subject, "fgmres");
}

// Every method of the list is one that auto solves by the resident engine, by our name of it and by
// PETSc's; PETSc's own type of it is another.
TEST(EngineChoice, FollowsTheListOfMethods) {
  solvers::for_each_method([](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    SCOPED_TRACE(info.name);
    for (const std::string_view name : {info.name, info.petsc_name}) {
      if (info.resident_only && name != info.name) continue;  // PETSc's name is another method's
      SolverSpec spec;
      spec.method = name;
      EXPECT_TRUE(choose_engine(spec).resident());
      EXPECT_EQ(resident_ksp_type(name), fmt::format("trireme_{}", info.name));
      EXPECT_EQ(petsc_ksp_type(name), info.petsc_name);
      spec.engine = Engine::petsc;
      EXPECT_EQ(choose_engine(spec).reason, EngineReason::asked_for);
    }
    EXPECT_NE(resident_methods().find(info.name), std::string::npos);
  });
}

std::string message_about(const SolverSpec& spec) {
  try {
    require_known_names(PETSC_COMM_WORLD, spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "known";
}

// One letter too many leads to a message with all names, and with the one that was meant.
TEST(KnownNames, AreThoseOfTheListsAndEachIsSuggested) {
  EXPECT_EQ(message_about({}), "known");
  solvers::for_each_method([](auto entry) {
    SolverSpec spec;
    const std::string_view name = decltype(entry)::type::info.name;
    spec.method = fmt::format("{}x", name);
    const std::string message = message_about(spec);
    EXPECT_NE(message.find(fmt::format("did you mean '{}'?", name)), std::string::npos) << message;
    EXPECT_NE(message.find(resident_methods()), std::string::npos) << message;
    spec.method = name;
    EXPECT_EQ(message_about(spec), "known");
  });
  solvers::for_each_preconditioner_name(
      [](solvers::PreconditionerKind, const solvers::PreconditionerName& of) {
        SolverSpec spec;
        spec.preconditioner.emplace(fmt::format("{}x", of.name));
        const std::string message = message_about(spec);
        EXPECT_NE(message.find(fmt::format("did you mean '{}'?", of.name)), std::string::npos)
            << message;
        EXPECT_NE(message.find(resident_preconditioners()), std::string::npos) << message;
        EXPECT_NE(resident_preconditioners().find(of.name), std::string::npos) << of.name;
        spec.preconditioner.emplace(of.name);
        EXPECT_EQ(message_about(spec), "known");
      });
  SolverSpec automatic;
  automatic.preconditioner.emplace("autoo");
  EXPECT_NE(message_about(automatic).find("did you mean 'auto'?"), std::string::npos);
}

// The plugin's users read the message too, and PETSc knows multigrid by another name.
TEST(EngineChoice, NamesMultigridAsPetscDoesToo) {
  const std::string words = describe(choose_engine("cg", AnyPreconditioner("gamg")));
  EXPECT_NE(words.find("multigrid (trireme_mg)"), std::string::npos) << words;
}

// What KSPView prints; on rank 0.
std::string view_of(KSP ksp) {
  const std::string path = testing::TempDir() + "resident_ksp_view.txt";
  PetscViewer viewer = nullptr;
  petsc_check(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path.c_str(), &viewer));
  petsc_check(KSPView(ksp, viewer));
  petsc_check(PetscViewerDestroy(&viewer));
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST_F(ResidentKsp, ViewSaysWhatRan) {
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const auto expect = [&](bool says, const char* words) {
    const std::string text = view_of(ksp);
    if (rank == 0) {
      EXPECT_EQ(text.find(words) != std::string::npos, says) << words << "\n" << text;
    }
  };
  make(grid(10), "trireme_cg", PCJACOBI);
  solve();
  expect(true, "type: trireme_cg");
  expect(true, "last solve: host");
  expect(true, "convergence checked by b - A x");
  expect(false, "PCApply");
  petsc_check(KSPSolveTranspose(ksp, b, x));
  expect(
      true,
      "last solve: PETSc's own loop (cg) in the norm PRECONDITIONED, because the resident engine "
      "has no transposed solves");
  expect(false, "convergence checked");
  solve();
  expect(true, "last solve: host");
  expect(true, "convergence checked by b - A x");
  make(grid(10), "trireme_cg", PCBJACOBI);
  solve();
  expect(true, "PC applied by PCApply on the host");
}

}  // namespace
}  // namespace trireme
