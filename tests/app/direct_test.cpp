// SPDX-License-Identifier: BSD-3-Clause
// Cases with method direct; run on 1 and 3 ranks.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/solved_cases.hpp"
#include "base/error.hpp"
#include "io/hdf5.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using namespace test;

const std::string kDirectCase = "device: cpu\nsolver: {method: direct, rtol: 1e-10}\n";

TEST(Direct, SolvesWhatTheMatrixIsWithEachKernel) {
  const std::pair<const char*, const char*> problems[] = {{"generate: saddle, n: 10", "cholesky"},
                                                          {"generate: convection3d, n: 8", "lu"}};
  for (const auto& [problem, factors] : problems)
    for (const char* kernel : {"csr", "petsc-aij"}) {
      SCOPED_TRACE(fmt::format("{} {}", problem, kernel));
      const RunOutcome run = solve(problem, kDirectCase + "kernel: " + kernel).runs.at(0);
      EXPECT_TRUE(run.converged) << run.reason;
      EXPECT_EQ(run.method, "direct");
      EXPECT_EQ(run.preconditioner, factors);
      EXPECT_LE(run.iterations, 2);
      EXPECT_LE(run.relative_residual, 1e-10);
      EXPECT_NE(fmt::format("{}", fmt::join(run.notes, "\n")).find("MUMPS made L"),
                std::string::npos);
    }
}

TEST(Direct, SolvesForSeveralRightHandSidesByTheSameFactors) {
  const RunOutcome run =
      solve("generate: saddle, n: 10, rhs: random, rhs_count: 3", kDirectCase).runs.at(0);
  ASSERT_EQ(run.columns.size(), 3u);
  for (const ColumnOutcome& column : run.columns) {
    EXPECT_TRUE(column.converged) << column.reason;
    EXPECT_LE(column.relative_residual, 1e-10);
  }
}

// All columns are corrected at once; what is left of a column is as if it had been alone.
TEST(Direct, SolvesForSeveralRightHandSidesAtOnce) {
  const std::string problem = "generate: saddle, n: 10, rhs: random, rhs_count: 6";
  const std::string settings = "kernel: csr\nsolver: {method: direct, rtol: 1e-10, block: ";
  const RunOutcome alone = solve(problem, settings + "1}").runs.at(0);
  for (const char* block : {"4", "6"}) {
    const RunOutcome run = solve(problem, settings + block + "}").runs.at(0);
    EXPECT_EQ(std::to_string(run.block), block);
    EXPECT_EQ(run.method, "direct");
    ASSERT_EQ(run.columns.size(), 6u);
    for (std::size_t j = 0; j < run.columns.size(); ++j) {
      EXPECT_TRUE(run.columns[j].converged) << run.columns[j].reason;
      EXPECT_LE(run.columns[j].relative_residual, 1e-10);
      EXPECT_EQ(run.columns[j].iterations, alone.columns[j].iterations);
    }
  }
}

// The matrix maps the last unknown to zero, and its last row is empty.
TEST(Direct, OneRightHandSideWithoutSolutionLeavesTheOthersTheirs) {
  const SmallMatrix a{
      .indptr = {0, 2, 4, 4}, .indices = {0, 1, 0, 1}, .data = {4, 1, 1, 3}, .shape = {3, 3}};
  SharedFile file("singular.h5");
  file.write([&](hdf5::File& out) {
    a.write(out);
    const std::vector<double> b = {5, 1, 9, 4, 1, 7, 0, 2, 0};  // [rows, 3]
    out.create_dataset<double>("b", {3, 3}).write(0, 3, b.data());
  });
  const RunOutcome run = solve("file: " + file.path().string(), kDirectCase).runs.at(0);
  EXPECT_FALSE(run.converged);
  EXPECT_EQ(run.exit_code, ExitCode::breakdown);
  ASSERT_EQ(run.columns.size(), 3u);
  for (const std::size_t k : {0, 1, 2}) {
    EXPECT_EQ(run.columns[k].converged, k != 1) << k << ": " << run.columns[k].reason;
    EXPECT_EQ(run.columns[k].reason.find("its rank is 2 of 3") != std::string::npos, k == 1);
  }
}

TEST(Direct, LeavesAnotherPreconditionerOutAndSaysSo) {
  const auto notes = [](const std::string& solver) {
    const RunOutcome run =
        solve("generate: saddle, n: 4", "device: cpu\nsolver: {method: direct" + solver + "}")
            .runs.at(0);
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_EQ(run.preconditioner, "cholesky");
    return fmt::format("{}", fmt::join(run.notes, "\n"));
  };
  const std::string words = "does not use preconditioner";
  EXPECT_NE(notes(", preconditioner: ilu").find(words + " ilu"), std::string::npos);
  EXPECT_NE(notes(", preconditioner: auto").find("MUMPS made L"), std::string::npos);
  EXPECT_EQ(notes("").find(words), std::string::npos);
}

TEST(Direct, RefusesWhatDoesNotGoWithItInOneLine) {
  const std::string saddle = "generate: saddle, n: 4";
  const auto refusal = [&](const std::string& rest, const std::string& problem) {
    return error_of(problem, "device: cpu\n" + rest, ExitCode::usage);
  };
  EXPECT_NE(
      refusal("solver: {method: direct, preconditioner: cholesky}", "generate: convection3d, n: 4")
          .find("needs a symmetric matrix, and this one is not; use lu"),
      std::string::npos);
  EXPECT_NE(refusal("solver: {method: direct}\nprecision: mixed", saddle)
                .find("needs the resident engine"),
            std::string::npos);
  EXPECT_NE(refusal("solver: {method: direct, engine: resident}", saddle).find("not direct"),
            std::string::npos);
}

TEST(Direct, RefusesFactorsThatTheMemoryCannotHoldBeforeItMakesThem) {
  const PetscOption option("-mat_mumps_icntl_14", "100000000");  // per cent beyond the estimate
  const std::string why = error_of("generate: saddle, n: 40", kDirectCase, ExitCode::resource);
  EXPECT_NE(why.find("the factors of 4880 rows may take"), std::string::npos) << why;
  EXPECT_NE(why.find("GiB are available"), std::string::npos) << why;
}

}  // namespace
}  // namespace trireme
