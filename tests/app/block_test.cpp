// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once come to the same results as one after another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "io/hdf5.hpp"
#include "io/problem_file.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

using test::case_of;

CaseOutcome solved(const std::string& block, const std::string& of_solver = "",
                   const std::string& rest = "") {
  const std::string solver = "solver: {rtol: 1e-9, block: " + block + of_solver + "}\n";
  return run_case(MPI_COMM_WORLD,
                  case_of("generate: poisson3d, n: 14, rhs: random, rhs_count: 11",
                          solver + "kernel: albus\ndevice: cpu\n" + rest),
                  nullptr);
}

TEST(Blocks, GiveEachRightHandSideItsOwnSolve) {
  const RunOutcome one = solved("1").runs[0];
  ASSERT_EQ(one.columns.size(), 11U);
  EXPECT_EQ(one.block, 1);
  for (const std::string block : {"4", "11", "auto"}) {
    SCOPED_TRACE(block);
    const RunOutcome many = solved(block).runs[0];
    EXPECT_GT(many.block, 1);
    EXPECT_TRUE(many.converged);
    ASSERT_EQ(many.columns.size(), 11U);
    double worst = 0;
    for (std::size_t k = 0; k < 11; ++k) {
      const ColumnOutcome& column = many.columns[k];
      EXPECT_TRUE(column.converged) << column.reason;
      EXPECT_NEAR(static_cast<double>(column.iterations),
                  static_cast<double>(one.columns[k].iterations), 1);
      EXPECT_LE(column.relative_residual, 1.05e-9);
      ASSERT_EQ(std::ssize(column.history), column.iterations + 1);
      EXPECT_NEAR(column.history[5], one.columns[k].history[5], 1e-8);
      worst = std::max(worst, column.relative_residual);
    }
    EXPECT_EQ(many.relative_residual, worst);
    EXPECT_EQ(many.solve_seconds.size(), 11U);
    EXPECT_GT(many.kernel_us.median, 0);
    double iterations = 0;  // of the longest column of each block
    for (std::size_t k = 0; k < 11; k += static_cast<std::size_t>(many.block)) {
      std::int64_t longest = 0;
      for (std::size_t j = k; j < std::min<std::size_t>(11, k + many.block); ++j)
        longest = std::max(longest, many.columns[j].iterations);
      iterations += static_cast<double>(longest);
    }
    EXPECT_NEAR(many.iteration_us * iterations, 1e6 * many.seconds.solve,
                1e-6 * many.seconds.solve);
  }
}

TEST(Blocks, RightHandSidesDiffer) {
  const RunOutcome one = solved("1").runs[0];
  for (std::size_t k = 1; k < 11; ++k)
    EXPECT_NE(one.columns[k].history[1], one.columns[0].history[1]) << k;
}

TEST(Blocks, OneThatDoesNotConvergeFailsTheRun) {
  const CaseOutcome outcome = solved("4", ", max_iterations: 3");
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  EXPECT_FALSE(outcome.runs[0].converged);
  ASSERT_EQ(outcome.runs[0].columns.size(), 11U);
  for (const ColumnOutcome& column : outcome.runs[0].columns) {
    EXPECT_FALSE(column.converged);
    EXPECT_EQ(column.iterations, 3);
  }
}

// The guess solves for the first two columns, and is worse than zero for the last one.
TEST(Blocks, AColumnWithoutItsGuessLeavesTheOthersTheirs) {
  constexpr std::int64_t kRows = 40;
  const test::SmallMatrix a = test::arrow_matrix(kRows);
  test::SharedFile file("guess.h5");
  file.write([&](hdf5::File& out) {
    a.write(out);
    std::vector<double> x(kRows), b(3 * kRows, 0.0);
    for (std::int64_t i = 0; i < kRows; ++i) x[i] = 1 + std::sin(static_cast<double>(i));
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t k = a.indptr[row]; k < a.indptr[row + 1]; ++k)
        for (const int j : {0, 1}) b[3 * row + j] += a.data[k] * x[a.indices[k]];
    b[2] = 1e-3;
    test::put(out, "x0", x);
    out.create_dataset<double>("b", {kRows, 3}).write(0, kRows, b.data());
  });
  const RunOutcome run = run_case(MPI_COMM_WORLD,
                                  case_of("file: " + file.path().string(),
                                          "solver: {block: 3}\nkernel: csr\ndevice: cpu\n"),
                                  nullptr)
                             .runs[0];
  ASSERT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.block, 3);
  EXPECT_EQ(run.columns[0].iterations, 0);
  EXPECT_EQ(run.columns[1].iterations, 0);
  EXPECT_GT(run.columns[2].iterations, 0);
}

TEST(Blocks, RepeatSolvesAllAgain) {
  const RunOutcome run = solved("4", "", "repeat: 2").runs[0];
  EXPECT_TRUE(run.converged);
  EXPECT_EQ(run.solve_seconds.size(), 22U);
  EXPECT_EQ(run.columns.size(), 11U);
}

// Multigrid would take one column after another in a block too.
TEST(Blocks, AutoSolvesAloneWhatIsPreconditionedAlone) {
  EXPECT_GT(solved("auto", ", preconditioner: jacobi").runs[0].block, 1);
  EXPECT_EQ(solved("auto", ", preconditioner: multigrid").runs[0].block, 1);
  const RunOutcome asked = solved("11", ", preconditioner: multigrid").runs[0];
  const RunOutcome alone = solved("1", ", preconditioner: multigrid").runs[0];
  EXPECT_EQ(asked.block, 11);
  ASSERT_EQ(asked.columns.size(), alone.columns.size());
  for (std::size_t k = 0; k < asked.columns.size(); ++k)
    EXPECT_EQ(asked.columns[k].iterations, alone.columns[k].iterations) << k;
}

TEST(Blocks, PetscsLoopsSolveOneAfterAnother) {
  const RunOutcome run = solved("4", ", engine: petsc").runs[0];
  EXPECT_EQ(run.block, 1);
  EXPECT_TRUE(std::any_of(run.notes.begin(), run.notes.end(), [](const std::string& note) {
    return note.find("one after another") != std::string::npos;
  }));
}

}  // namespace
}  // namespace trireme
