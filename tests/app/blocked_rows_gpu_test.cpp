// SPDX-License-Identifier: BSD-3-Clause
// Cases on GPUs whose rows lie in several blocks, as those of a process with more than 2^31
// nonzeros do, against the same cases in one block. Skips without a GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "app/solved_cases.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

using namespace test;

constexpr double kResidual = 1.02e-8;  // rtol, and the rounding that a verdict allows

class BlockedRowsOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }
};

// In blocks of at most `most` nonzeros.
CaseOutcome solve_in_blocks(const std::string& problem, const std::string& rest,
                            std::int64_t most = 3000) {
  Case c = case_of(problem, rest);
  c.problem.most_of_block = most;
  return run_case(MPI_COMM_WORLD, c, nullptr);
}

// The sums of a block's kernel may be rounded otherwise, and x . A x is another sum.
void expect_the_solve_of_one_block(const std::string& problem, const std::string& rest) {
  SCOPED_TRACE(problem + " " + rest);
  const CaseOutcome whole = solve(problem, rest), blocks = solve_in_blocks(problem, rest, 250'000);
  ASSERT_EQ(whole.runs.size(), blocks.runs.size());
  for (std::size_t k = 0; k < whole.runs.size(); ++k) {
    const RunOutcome &one = whole.runs[k], &several = blocks.runs[k];
    SCOPED_TRACE(one.kernel);
    EXPECT_TRUE(several.converged) << several.reason;
    EXPECT_LE(several.relative_residual, kResidual);
    EXPECT_NEAR(static_cast<double>(several.iterations), static_cast<double>(one.iterations),
                2 + 0.1 * static_cast<double>(one.iterations));
    EXPECT_EQ(one.kernel, several.kernel);
    EXPECT_EQ(one.engine, several.engine);
    EXPECT_EQ(one.preconditioner, several.preconditioner);
    EXPECT_EQ(one.corrections.has_value(), several.corrections.has_value());
    EXPECT_EQ(one.notes.size(), several.notes.size());
  }
}

// So many rows do not fit the persistent kernel, which takes one block.
TEST_F(BlockedRowsOnAGpu, AreSolvedAsOneBlockIs) {
  const std::string csr = "kernel: csr-vector\ndevice: cuda\nsolver: ";
  const std::string poisson = "generate: poisson3d, n: 80";
  expect_the_solve_of_one_block(poisson, csr + "{method: cg, preconditioner: jacobi}");
  expect_the_solve_of_one_block(poisson, csr + "{method: minres, preconditioner: none}");
  expect_the_solve_of_one_block(poisson, csr + "{method: cg, preconditioner: trireme_chebyshev}");
  expect_the_solve_of_one_block(poisson, csr + "{method: cg, engine: petsc}");
  expect_the_solve_of_one_block("generate: convection3d, n: 80", csr + "{method: bicgstab}");
  expect_the_solve_of_one_block("generate: diffusion3d, n: 60", csr + "{method: cg}");
  expect_the_solve_of_one_block("generate: diffusion3d, n: 60",
                                csr + "{method: cg}\nprecision: mixed");
}

TEST_F(BlockedRowsOnAGpu, AreSolvedWhereOneBlockWouldTakeThePersistentKernel) {
  const CaseOutcome outcome =
      solve_in_blocks("generate: poisson3d, n: 16", "kernel: csr-vector\ndevice: cuda");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_LE(outcome.runs[0].relative_residual, kResidual);
}

TEST_F(BlockedRowsOnAGpu, AreSolvedByEveryKernelForSeveralRightHandSides) {
  for (const char* precision : {"double", "mixed"}) {
    const std::string kernels = std::string(precision) == "mixed"
                                    ? "[csr-vector, albus, sell, dasp, teb]"
                                    : "[csr-vector, albus, sell, dasp, teb, csr5, cusparse-csr]";
    const CaseOutcome outcome = solve_in_blocks(
        "generate: diffusion3d, n: 24, rhs: random, rhs_count: 5",
        "kernel: " + kernels + "\ndevice: cuda\nsolver: {method: cg}\nprecision: " + precision,
        10'000);
    EXPECT_TRUE(outcome.refused.empty());
    for (const RunOutcome& run : outcome.runs) {
      SCOPED_TRACE(run.kernel);
      EXPECT_TRUE(run.converged) << run.reason;
      EXPECT_LE(run.relative_residual, kResidual);
    }
  }
}

TEST_F(BlockedRowsOnAGpu, AutoLeavesOutWhatTakesOneBlock) {
  const CaseOutcome outcome = solve_in_blocks(
      "generate: poisson3d, n: 60",
      "kernel: auto\ndevice: cuda\nsolver: {method: cg, preconditioner: auto}\nrepeat: 4", 250'000);
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_EQ(outcome.runs[0].ordering, "given");
}

TEST_F(BlockedRowsOnAGpu, WhatTakesOneBlockIsRefusedInOneLine) {
  for (const std::string rest :
       {"ordering: rcm", "ordering: cluster", "solver: {preconditioner: multigrid}",
        "solver: {preconditioner: gamg}", "solver: {preconditioner: vpbjacobi}"}) {
    SCOPED_TRACE(rest);
    try {
      solve_in_blocks("generate: poisson3d, n: 16", rest + "\nkernel: csr-vector\ndevice: cuda");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resource) << error.what();
      EXPECT_NE(std::string(error.what()).find("2^31-2^16"), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

// The sums over the entries and their mirror images go over all blocks.
TEST_F(BlockedRowsOnAGpu, AnUnsymmetricMatrixIsNoted) {
  const CaseOutcome outcome =
      solve_in_blocks("generate: convection3d, n: 16",
                      "kernel: csr-vector\ndevice: cuda\nsolver: {method: cg, max_iterations: 5}");
  bool noted = false;
  for (const std::string& note : outcome.runs[0].notes)
    noted = noted || note.find("not symmetric") != std::string::npos;
  EXPECT_TRUE(noted);
}

}  // namespace
}  // namespace trireme
