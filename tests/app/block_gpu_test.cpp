// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once on a GPU come to the same results as one after another. Run on 1
// and 2 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "parallel/collective.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

using test::case_of;

class BlocksOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }

  static RunOutcome solved(const std::string& of_solver, const std::string& kernel, int n = 24) {
    return run_case(MPI_COMM_WORLD,
                    case_of("generate: poisson3d, n: " + std::to_string(n) +
                                ", rhs: random, rhs_count: 11",
                            "solver: {rtol: 1e-9, " + of_solver + "}\nkernel: " + kernel +
                                "\ndevice: cuda\n"),
                    nullptr)
        .runs[0];
  }
  static bool says(const RunOutcome& run, const std::string& text) {
    return std::ranges::any_of(
        run.notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
  }
};

TEST_F(BlocksOnAGpu, GiveEachRightHandSideItsOwnSolve) {
  for (const std::string preconditioner : {"none", "jacobi", "pbjacobi"}) {
    const std::string rest = ", preconditioner: " + preconditioner;
    const RunOutcome one = solved("block: 1" + rest, "spmm-row-warp");
    ASSERT_EQ(one.columns.size(), 11U);
    for (const std::string block : {"4", "11"}) {
      SCOPED_TRACE(preconditioner + ", block " + block);
      const RunOutcome many = solved("block: " + block + rest, "spmm-row-warp");
      EXPECT_GT(many.block, 1);
      EXPECT_TRUE(many.converged);
      ASSERT_EQ(many.columns.size(), 11U);
      for (std::size_t k = 0; k < 11; ++k) {
        const ColumnOutcome& column = many.columns[k];
        EXPECT_TRUE(column.converged) << column.reason;
        EXPECT_NEAR(static_cast<double>(column.iterations),
                    static_cast<double>(one.columns[k].iterations), 1);
        EXPECT_LE(column.relative_residual, 1.05e-9);
        ASSERT_EQ(std::ssize(column.history), column.iterations + 1);
        EXPECT_NEAR(column.history[5], one.columns[k].history[5], 1e-8);
      }
      EXPECT_EQ(many.solve_seconds.size(), 11U);
      EXPECT_GT(many.kernel_us.median, 0);
    }
  }
}

// The persistent kernel solves small systems on one GPU, and multigrid takes single columns.
TEST_F(BlocksOnAGpu, AutoMakesNoneWhereTheyWouldBeSlower) {
  const bool alone = size_of(MPI_COMM_WORLD) == 1;
  EXPECT_EQ(solved("preconditioner: jacobi", "sell").block == 1, alone);
  EXPECT_GT(solved("preconditioner: jacobi", "sell", 70).block, 1);
  EXPECT_EQ(solved("preconditioner: jacobi", "sell", 90).block == 1, alone);
  EXPECT_EQ(solved("preconditioner: multigrid", "sell", 50).block, 1);
  EXPECT_EQ(solved("preconditioner: multigrid, block: 11", "sell", 50).block, 11);
}

TEST_F(BlocksOnAGpu, OneThatDoesNotConvergeFailsTheRun) {
  const RunOutcome run = solved("block: 4, max_iterations: 3", "spmm-row-warp");
  EXPECT_FALSE(run.converged);
  EXPECT_EQ(run.exit_code, ExitCode::not_converged);
  for (const ColumnOutcome& column : run.columns) EXPECT_EQ(column.iterations, 3);
}

TEST_F(BlocksOnAGpu, KernelsThatMultiplyOneVectorSolveOneAfterAnother) {
  const RunOutcome run = solved("block: 4", "csr-scalar");
  EXPECT_EQ(run.block, 1);
  EXPECT_TRUE(run.converged);
  EXPECT_TRUE(says(run, "one after another"));
}

TEST_F(BlocksOnAGpu, BlockCgSolvesOneAfterAnother) {
  const RunOutcome run = solved("block: 4, method: block_cg", "spmm-row-warp");
  EXPECT_EQ(run.block, 1);
  EXPECT_TRUE(run.converged);
}

TEST_F(BlocksOnAGpu, ABlockThatDoesNotFitNamesTheLargestThatDoes) {
  if (size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "a test on one rank";
  select_device();
  const Stream stream;
  DeviceBuffer<char> others(device_memory().free_bytes - (std::size_t{1} << 30), stream);
  stream.synchronize();
  const std::string message = test::error_of(
      "generate: poisson3d, n: 80, rhs: random, rhs_count: 64",
      "solver: {block: 64}\nkernel: spmm-row-warp\ndevice: cuda\n", ExitCode::resource);
  EXPECT_NE(message.find("GB on its GPU"), std::string::npos) << message;
  EXPECT_NE(message.find("the largest block that fits is "), std::string::npos) << message;
  EXPECT_EQ(message.find("that fits is 0"), std::string::npos) << message;
}

}  // namespace
}  // namespace trireme
