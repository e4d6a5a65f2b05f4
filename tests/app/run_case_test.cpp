// SPDX-License-Identifier: BSD-3-Clause
// Cases from end to end on generated problems; run on 1 and 3 ranks.
#include "app/run_case.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "app/solved_cases.hpp"
#include "io/problem_file.hpp"
#include "kernels/registry.hpp"
#include "parallel/collective.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

using namespace test;

TEST(RunCase, CgSolvesPoissonWithEveryHostKernelAndPetscAij) {
  std::string kernels = "petsc-aij";
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double) kernels += ", " + std::string(entry.name);
  const CaseOutcome outcome =
      solve("generate: poisson3d, n: 12", "kernel: [" + kernels + "]\ndevice: cpu");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged);
  EXPECT_EQ(outcome.problem.rows, 12 * 12 * 12);
  for (const RunOutcome& run : outcome.runs) {
    SCOPED_TRACE(run.kernel);
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_LE(run.relative_residual, 1e-8);
    ASSERT_TRUE(run.relative_error.has_value());
    EXPECT_LE(*run.relative_error, 1e-6);
    EXPECT_EQ(run.iterations, outcome.runs[0].iterations);
    EXPECT_EQ(static_cast<std::int64_t>(run.history.size()), run.iterations + 1);
    EXPECT_GT(run.kernel_us.count, 0);
    EXPECT_GT(run.kernel_us.median, 0);
    EXPECT_GT(run.gflops, 0);
    EXPECT_GT(run.bytes, 0);
    EXPECT_GT(run.seconds.solve, 0);
    EXPECT_NEAR(run.history.front(), 1.0, 0.5);
  }
}

class EveryPreconditioner : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
#ifndef PETSC_HAVE_HYPRE
    if (std::string(GetParam()) == "hypre") GTEST_SKIP() << "this PETSc has no hypre";
#endif
  }
};

TEST_P(EveryPreconditioner, SolvesPoissonByCg) {
  const CaseOutcome outcome = solve("generate: poisson2d, n: 30",
                                    std::string("solver: {preconditioner: ") + GetParam() + "}");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_LE(outcome.runs[0].relative_residual, 1e-7);
}

TEST_P(EveryPreconditioner, SolvesConvectionByBicgstab) {
  const CaseOutcome outcome =
      solve("generate: convection3d, n: 8", std::string("solver: {method: bicgstab, "
                                                        "preconditioner: ") +
                                                GetParam() + "}");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_LE(outcome.runs[0].relative_residual, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(All, EveryPreconditioner,
                         testing::Values("none", "jacobi", "bjacobi", "ilu", "icc", "gamg", "hypre",
                                         "sor", "asm"));

// Three unknowns a node: dense blocks of three take fewer iterations than the diagonal.
TEST(RunCase, BlockJacobiIsReachedByItsPetscName) {
  const std::string problem = "generate: elasticity3d, n: 6";
  const CaseOutcome by_jacobi = solve(problem, "solver: {preconditioner: jacobi}");
  for (const std::string engine : {"resident", "petsc"}) {
    const CaseOutcome by_groups =
        solve(problem, "solver: {preconditioner: vpbjacobi, engine: " + engine + "}");
    EXPECT_TRUE(by_groups.runs[0].converged) << by_groups.runs[0].reason;
    EXPECT_LT(by_groups.runs[0].iterations, by_jacobi.runs[0].iterations);
    EXPECT_EQ(by_groups.runs[0].engine, choice_of<Engine>(engine));
    EXPECT_EQ(by_groups.runs[0].preconditioner, "vpbjacobi");
    petsc_check(PetscOptionsSetValue(nullptr, "-mat_block_size", "3"));
    const CaseOutcome by_blocks =
        solve(problem, "solver: {preconditioner: pbjacobi, engine: " + engine + "}");
    petsc_check(PetscOptionsClearValue(nullptr, "-mat_block_size"));
    EXPECT_NEAR(by_blocks.runs[0].iterations, by_groups.runs[0].iterations, 1);
    EXPECT_EQ(by_blocks.runs[0].preconditioner, "pbjacobi");
  }
}

class EveryMethod : public testing::TestWithParam<const char*> {};

TEST_P(EveryMethod, SolvesPoisson) {
  const CaseOutcome outcome =
      solve("generate: poisson2d, n: 12",
            std::string("solver: {preconditioner: jacobi, method: ") + GetParam() + "}");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_LE(outcome.runs[0].relative_residual, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(All, EveryMethod,
                         testing::Values("cg", "bicgstab", "gmres", "fgmres", "minres", "pipecg",
                                         "bcgsl", "tfqmr", "cgs", "bicg", "cr", "fbcgs"));

TEST(RunCase, RepeatsAndCountsAllProducts) {
  const CaseOutcome once = solve("generate: poisson2d, n: 20", "kernel: csr");
  const CaseOutcome thrice = solve("generate: poisson2d, n: 20", "kernel: csr\nrepeat: 3");
  EXPECT_EQ(thrice.runs[0].kernel_us.count, 3 * once.runs[0].kernel_us.count);
  EXPECT_EQ(thrice.runs[0].iterations, once.runs[0].iterations);
  const std::vector<double>& each = thrice.runs[0].solve_seconds;
  EXPECT_EQ(each.size(), 3u);
  EXPECT_NEAR(std::accumulate(each.begin(), each.end(), 0.0), thrice.runs[0].seconds.solve, 1e-9);
}

TEST(RunCase, MaximumIterationsIsNotConverged) {
  const CaseOutcome outcome = solve("generate: poisson2d, n: 40", "solver: {max_iterations: 3}");
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  EXPECT_FALSE(outcome.runs[0].converged);
  EXPECT_EQ(outcome.runs[0].iterations, 3);
  EXPECT_NE(outcome.runs[0].reason.find("DIVERGED_ITS"), std::string::npos);
}

// PETSc 3.18 keeps the number as it is, later ones take it for "no limit".
TEST(RunCase, ANegativeLimitIsNoError) {
  const PetscOption limit("-ksp_max_it", "-3");
  const RunOutcome run = solve("generate: poisson2d, n: 12", "device: cpu").runs[0];
  EXPECT_TRUE(run.converged || run.exit_code == ExitCode::not_converged) << run.reason;
}

// Preonly tests no residual, and would always be content.
TEST(RunCase, OneApplicationThatIsNotEnoughIsNotConverged) {
  const RunOutcome by_jacobi =
      solve("generate: poisson2d, n: 12", "solver: {method: preonly, preconditioner: jacobi}")
          .runs[0];
  EXPECT_FALSE(by_jacobi.converged);
  EXPECT_EQ(by_jacobi.exit_code, ExitCode::not_converged);
  EXPECT_NE(by_jacobi.reason.find("true residual"), std::string::npos) << by_jacobi.reason;
}

TEST(RunCase, HistoryIsAsLongAsAnOptionLetsTheSolveBe) {
  for (const std::string engine : {"resident", "petsc"}) {
    petsc_check(PetscOptionsSetValue(nullptr, "-ksp_max_it", "1000"));
    const CaseOutcome outcome =
        solve("generate: poisson2d, n: 20", "solver: {max_iterations: 5, engine: " + engine + "}");
    petsc_check(PetscOptionsClearValue(nullptr, "-ksp_max_it"));
    const RunOutcome& run = outcome.runs[0];
    EXPECT_GT(run.iterations, 5);
    EXPECT_EQ(static_cast<std::int64_t>(run.history.size()), run.iterations + 1) << engine;
  }
}

// 50 rows of -1 4 -1, with b and a first guess that are constant.
class FromAGuess : public testing::TestWithParam<const char*> {
 protected:
  RunOutcome solved(double b, double x0, const std::string& solver) {
    constexpr std::int64_t rows = 50;
    test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
        a.indices.push_back(j);
        a.data.push_back(i == j ? 4 : -1);
      }
      a.indptr.push_back(std::ssize(a.indices));
    }
    test::SharedFile file("guess.h5");
    file.write([&](hdf5::File& out) {
      a.write(out);
      test::put(out, "b", std::vector<double>(rows, b));
      test::put(out, "x0", std::vector<double>(rows, x0));
    });
    return solve("file: " + file.path().string() + ", rhs: /b, x0: /x0",
                 fmt::format("solver: {{engine: {}, {}}}", GetParam(), solver))
        .runs[0];
  }
};

TEST_P(FromAGuess, ZeroIsFoundToAPartOfTheFirstResidual) {
  const RunOutcome run = solved(0, 1, "rtol: 1e-8");
  EXPECT_EQ(run.exit_code, ExitCode::converged) << run.reason;
  EXPECT_LE(run.relative_residual, 1e-7);
  EXPECT_NEAR(run.history.front(), 1, 1e-12);
}

TEST_P(FromAGuess, ZeroFromZeroHasNoResidual) {
  const RunOutcome run = solved(0, 0, "rtol: 1e-8");
  EXPECT_EQ(run.exit_code, ExitCode::converged) << run.reason;
  EXPECT_EQ(run.relative_residual, 0);
}

TEST_P(FromAGuess, AnOptionMakesRtolAPartOfTheFirstResidual) {
  const char* const option = "-ksp_converged_use_initial_residual_norm";
  petsc_check(PetscOptionsSetValue(nullptr, option, nullptr));
  const RunOutcome run = solved(1, 1e6, "rtol: 1e-3");
  petsc_check(PetscOptionsClearValue(nullptr, option));
  EXPECT_EQ(run.exit_code, ExitCode::converged) << run.reason;
  EXPECT_GT(run.relative_residual, 0.1) << "of ||b||";
}

TEST_P(FromAGuess, OneThatIsWorseThanZeroIsNotUsedAndTheReportSaysSo) {
  const RunOutcome from_zero = solved(1, 0, "rtol: 1e-8"), run = solved(1, 1e12, "rtol: 1e-8");
  EXPECT_EQ(run.exit_code, ExitCode::converged) << run.reason;
  EXPECT_EQ(run.iterations, from_zero.iterations);
  EXPECT_EQ(run.history, from_zero.history);
  EXPECT_NE(fmt::format("{}", fmt::join(run.notes, "\n"))
                .find("the solve began with 0: the guess (x0) had a residual of 2e+12 of ||b||"),
            std::string::npos)
      << fmt::format("{}", fmt::join(run.notes, "\n"));
  for (const std::string& note : solved(1, 0.5, "rtol: 1e-8").notes)
    EXPECT_EQ(note.find("began with 0"), std::string::npos) << note;
}

INSTANTIATE_TEST_SUITE_P(Engines, FromAGuess, testing::Values("resident", "petsc"));

// 600 rows, of which six are dense, so that ell refuses the matrix on 1 and on 3 ranks.
TEST(RunCase, AKernelThatRefusesTheMatrixLeavesTheOthersTheirResults) {
  constexpr std::int64_t rows = 600;
  const auto dense = [](std::int64_t row) { return row % 100 == 50; };
  test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < rows; ++j)
      if (i == j || dense(i) || dense(j)) {
        a.indices.push_back(j);
        a.data.push_back(i == j ? (dense(i) ? rows : 7) : -1);
      }
    a.indptr.push_back(std::ssize(a.indices));
  }
  test::SharedFile file("dense-rows.h5");
  file.write([&](hdf5::File& out) { a.write(out); });
  const std::string problem = "file: " + file.path().string();

  const CaseOutcome outcome = solve(problem, "kernel: [csr, ell, jds]\ndevice: cpu");
  EXPECT_EQ(exit_code(outcome), ExitCode::resource);
  ASSERT_EQ(outcome.runs.size(), 2u);
  EXPECT_EQ(outcome.runs[0].kernel, "csr");
  EXPECT_EQ(outcome.runs[1].kernel, "jds");
  EXPECT_TRUE(outcome.runs[1].converged) << outcome.runs[1].reason;
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_EQ(outcome.refused[0].kernel, "ell");
  EXPECT_NE(outcome.refused[0].reason.find("more than 10 times"), std::string::npos);

  const std::string alone = error_of(problem, "kernel: ell\ndevice: cpu", ExitCode::resource);
  EXPECT_NE(alone.find("use hyb, jds or csr"), std::string::npos) << alone;
}

TEST(RunCase, CgOnANonsymmetricMatrixIsNoted) {
  const CaseOutcome outcome = solve("generate: convection3d, n: 6", "solver: {max_iterations: 20}");
  ASSERT_FALSE(outcome.runs[0].notes.empty());
  EXPECT_NE(outcome.runs[0].notes[0].find("not symmetric"), std::string::npos);
}

TEST(RunCase, CgOnAnIndefiniteMatrixBreaksDownWithPetscsReason) {
  // Random values in (-1, 1) are as indefinite as can be.
  const CaseOutcome outcome =
      solve("generate: circuit, n: 1000", "solver: {preconditioner: none, max_iterations: 200}");
  EXPECT_TRUE(exit_code(outcome) == ExitCode::breakdown ||
              exit_code(outcome) == ExitCode::not_converged);
  EXPECT_NE(outcome.runs[0].reason.find("DIVERGED"), std::string::npos) << outcome.runs[0].reason;
}

// Kershaw's matrix (J. Comput. Phys. 26, 1978) is positive definite, its incomplete factorisation
// without fill is not: the last pivot is -5.
TEST(RunCase, CgWithAnUnsymmetricFactorisationNamesSymmetricOnes) {
  const double block[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {12, 12}};
  for (std::int64_t row = 0; row < 12; ++row) {
    for (std::int64_t k = 0; k < 4; ++k)
      if (const double value = block[row % 4][k]; value != 0) {
        a.indices.push_back(row / 4 * 4 + k);
        a.data.push_back(value);
      }
    a.indptr.push_back(std::ssize(a.indices));
  }
  SharedFile file("kershaw.h5");
  file.write([&](hdf5::File& out) { a.write(out); });
  const std::string problem = "file: " + file.path().string() + ", rhs: random";
  for (const char* pc : {"ilu", "bjacobi"}) {
    const RunOutcome run =
        solve(problem, fmt::format("solver: {{preconditioner: {}}}", pc)).runs[0];
    EXPECT_EQ(run.exit_code, ExitCode::breakdown);
    EXPECT_NE(run.reason.find("use preconditioner jacobi or icc"), std::string::npos) << run.reason;
  }
  for (const char* pc : {"jacobi", "icc"})
    EXPECT_TRUE(solve(problem, fmt::format("solver: {{preconditioner: {}}}", pc)).runs[0].converged)
        << pc;
}

TEST(RunCase, JacobiOnAZeroDiagonalNamesTheFirstRow) {
  const std::string message = error_of("generate: random, n: 200, k: 3",
                                       "solver: {preconditioner: jacobi}", ExitCode::input);
  EXPECT_NE(message.find("row "), std::string::npos) << message;
  EXPECT_NE(message.find("zero on the diagonal"), std::string::npos) << message;
}

TEST(RunCase, UnknownNamesAreUsageErrors) {
  const std::string problem = "generate: poisson2d, n: 5";
  EXPECT_NE(error_of(problem, "solver: {method: cgg}", ExitCode::usage).find("'cgg'"),
            std::string::npos);
  EXPECT_NE(error_of(problem, "solver: {preconditioner: jakobi}", ExitCode::usage).find("'jakobi'"),
            std::string::npos);
}

TEST(RunCase, ProgressHearsEveryIterationOnRankZeroOnly) {
  struct Counter : CaseObserver {
    int calls = 0;
    double last = 0;
    void iteration(int, std::int64_t, double residual) override {
      ++calls;
      last = residual;
    }
  } counter;
  const CaseOutcome outcome =
      run_case(MPI_COMM_WORLD, case_of("generate: poisson2d, n: 10", ""), &counter);
  if (rank_of(MPI_COMM_WORLD) == 0) {
    EXPECT_EQ(counter.calls, outcome.runs[0].iterations + 1);
    EXPECT_LE(counter.last, 1e-8);
  } else {
    EXPECT_EQ(counter.calls, 0);
  }
}

// A signal to rank 0 at its third iteration.
class OnASignal : public testing::TestWithParam<const char*> {
 protected:
  CaseOutcome stopped(const std::string& solver, const std::string& rest) {
    struct Signal : CaseObserver {
      void iteration(int, std::int64_t iteration, double) override {
        if (iteration == 3) raise(SIGTERM);
      }
    } signal;
    InterruptGuard interrupts;
    return run_case(
        MPI_COMM_WORLD,
        case_of("generate: poisson2d, n: 60",
                fmt::format("device: cpu\nsolver: {{engine: {}{}}}\n{}", GetParam(), solver, rest)),
        &signal, &interrupts);
  }
};

TEST_P(OnASignal, TheSolveEndsAndNoOtherBegins) {
  const CaseOutcome outcome = stopped("", "kernel: [csr, albus, dasp]\nrepeat: 5");
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  ASSERT_EQ(outcome.runs.size(), 1u);
  const RunOutcome& run = outcome.runs[0];
  EXPECT_NE(run.reason.find("stopped by a signal"), std::string::npos) << run.reason;
  EXPECT_NE(run.reason.find("solve 1 of 5"), std::string::npos) << run.reason;
  EXPECT_FALSE(run.converged);
  EXPECT_LT(run.petsc_reason, 0);
  EXPECT_LE(run.iterations, 20);
  EXPECT_EQ(run.solve_seconds.size(), 1u);
  EXPECT_EQ(outcome.not_run, (std::vector<std::string>{"albus", "dasp"}));
}

TEST_P(OnASignal, WhatWasDoneByThenStands) {
  const CaseOutcome outcome = stopped(", max_iterations: 3", "kernel: csr");
  EXPECT_TRUE(outcome.not_run.empty());
  // PETSc's loop asks for signals before it looks at the limit.
  const char* const why =
      std::string(GetParam()) == "petsc" ? "stopped by a signal" : "maximum iterations";
  EXPECT_NE(outcome.runs[0].reason.find(why), std::string::npos) << outcome.runs[0].reason;
}

INSTANTIATE_TEST_SUITE_P(Engines, OnASignal, testing::Values("resident", "petsc"));

}  // namespace
}  // namespace trireme
