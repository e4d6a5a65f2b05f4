// SPDX-License-Identifier: BSD-3-Clause
// Cases whose rows lie in blocks of a few thousand nonzeros, as those of a process with more than
// 2^31-1 nonzeros do, against the same cases in one block.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/solved_cases.hpp"
#include "app/solves/plain_product.hpp"
#include "sparse/generators.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

using namespace test;

CaseOutcome solve_in_blocks(const std::string& problem, const std::string& rest) {
  Case c = case_of(problem, rest);
  c.problem.most_of_block = 3000;
  return run_case(MPI_COMM_WORLD, c, nullptr);
}

// A row of csr is one sum in whatever block it lies, so that all histories have the same bits.
void expect_same_histories(const std::string& problem, const std::string& rest) {
  SCOPED_TRACE(problem + " " + rest);
  const CaseOutcome whole = solve(problem, rest), blocks = solve_in_blocks(problem, rest);
  ASSERT_EQ(whole.runs.size(), blocks.runs.size());
  EXPECT_EQ(whole.pattern_hash, blocks.pattern_hash);
  EXPECT_EQ(whole.values_hash, blocks.values_hash);
  EXPECT_EQ(whole.pattern.density, blocks.pattern.density);
  EXPECT_EQ(whole.pattern.row_lengths, blocks.pattern.row_lengths);
  for (std::size_t k = 0; k < whole.runs.size(); ++k) {
    const RunOutcome &one = whole.runs[k], &several = blocks.runs[k];
    EXPECT_TRUE(several.converged) << several.reason;
    EXPECT_EQ(one.history, several.history);
    EXPECT_EQ(one.relative_residual, several.relative_residual);
    EXPECT_EQ(one.relative_error, several.relative_error);
    EXPECT_EQ(one.corrections, several.corrections);
    EXPECT_EQ(one.engine, several.engine);
    EXPECT_EQ(one.preconditioner, several.preconditioner);
  }
}

TEST(BlockedRows, HaveTheHistoriesOfOneBlock) {
  const std::string csr = "kernel: csr\ndevice: cpu\nsolver: ";
  const std::string poisson = "generate: poisson3d, n: 16";
  expect_same_histories(poisson, csr + "{method: cg, preconditioner: jacobi}");
  expect_same_histories(poisson, csr + "{method: minres, preconditioner: none}");
  expect_same_histories(poisson, csr + "{method: cg, preconditioner: trireme_chebyshev}");
  expect_same_histories(poisson, csr + "{method: cg, engine: petsc, preconditioner: jacobi}");
  expect_same_histories("generate: convection3d, n: 14", csr + "{method: bicgstab}");
  expect_same_histories("generate: diffusion3d, n: 14",
                        csr + "{method: cg}\nprecision: mixed");  // rounding changes the values
  expect_same_histories("generate: graph, n: 2000, rhs: random", csr + "{method: cg}");
}

TEST(BlockedRows, AreSolvedByEveryHostKernelForSeveralRightHandSides) {
  const CaseOutcome outcome = solve_in_blocks(
      "generate: poisson3d, n: 14, rhs: random, rhs_count: 3",
      "kernel: [csr, albus, sell, dasp, teb, tilespmv, csr5]\ndevice: cpu\nsolver: {method: cg}");
  for (const RunOutcome& run : outcome.runs) {
    SCOPED_TRACE(run.kernel);
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_LE(run.relative_residual, 1e-8);
  }
}

// What needs one block is no candidate, or left out with a reason.
TEST(BlockedRows, AutoLeavesOutWhatTakesOneBlock) {
  const CaseOutcome outcome = solve_in_blocks(
      "generate: poisson3d, n: 14",
      "kernel: auto\ndevice: cpu\nsolver: {method: cg, preconditioner: auto}\nrepeat: 4");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_EQ(outcome.runs[0].ordering, "given");
}

// The check of a step of a sequence, which takes the values that the matrix had in that step.
TEST(BlockedRows, HaveTheResidualOfOneBlockForOtherValues) {
  const GenerateSpec spec{.kind = "diffusion3d", .n = 12};
  const auto norm = [&](std::int64_t most) {
    const std::int64_t rows = generator_shape(spec).rows;
    auto matrix = std::make_shared<DistributedMatrix>();
    matrix->comm = MPI_COMM_SELF;
    matrix->row_starts = {0, rows};
    matrix->blocks = split_rows(generate(spec, 0, rows, most), 0, rows);
    EXPECT_EQ(matrix->blocks.local.cuts.empty(), most == kNonzerosOfBlock);
    const auto values = random_vector<double>(matrix->blocks.local.nnz(), 7);
    const auto b = random_vector<double>(rows, 8), x = random_vector<double>(rows, 9);
    return PlainProduct(matrix).residual_alone(values, b, x).norm;
  };
  EXPECT_EQ(norm(3000), norm(kNonzerosOfBlock));
}

TEST(BlockedRows, WhatTakesOneBlockIsRefusedInOneLine) {
  for (const std::string rest :
       {"kernel: csr\nordering: rcm", "kernel: petsc-aij", "solver: {preconditioner: multigrid}",
        "solver: {preconditioner: gamg}"}) {
    SCOPED_TRACE(rest);
    try {
      solve_in_blocks("generate: poisson3d, n: 16", rest + "\ndevice: cpu");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resource) << error.what();
      EXPECT_NE(std::string(error.what()).find("2^31-2^16"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme
