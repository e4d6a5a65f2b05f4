// SPDX-License-Identifier: BSD-3-Clause
// Method direct with the factors of cuDSS. Run on 1 and 2 ranks.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/heat_sequence.hpp"
#include "app/solved_cases.hpp"
#include "device/device.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "petsc/factors/cudss/library.hpp"
#include "petsc/factors/direct_forecast.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

using namespace test;

const std::string kDirectOnGpu = "device: cuda\nkernel: sell\nsolver: {method: direct, rtol: 1e-10";

std::string words_of(const RunOutcome& run) {
  return fmt::format("{}", fmt::join(run.notes, "\n"));
}

class DirectOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }
  static bool by_cudss() { return size_of(MPI_COMM_WORLD) == 1 && cudss::why_missing().empty(); }
};

TEST_F(DirectOnAGpu, TakesCudssWhereItIsThereAndSaysWhyNot) {
  for (const char* problem : {"generate: poisson3d, n: 12", "generate: convection3d, n: 12"}) {
    const RunOutcome run = solve(problem, kDirectOnGpu + "}").runs.at(0);
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_LE(run.iterations, 3);
    EXPECT_LE(run.relative_residual, 1e-10);
    const std::string why = size_of(MPI_COMM_WORLD) > 1 ? "cuDSS serves one rank only" : "cuDSS";
    EXPECT_NE(words_of(run).find(by_cudss() ? "on the GPU with" : "by the CPU: " + why),
              std::string::npos)
        << words_of(run);
  }
}

TEST_F(DirectOnAGpu, SolvesForSeveralRightHandSidesAtOnce) {
  const RunOutcome run =
      solve("generate: poisson3d, n: 12, rhs: random, rhs_count: 11", kDirectOnGpu + "}")
          .runs.at(0);
  EXPECT_EQ(run.block, 11);
  for (const ColumnOutcome& column : run.columns) {
    EXPECT_TRUE(column.converged) << column.reason;
    EXPECT_LE(column.relative_residual, 1e-10);
    EXPECT_LE(column.iterations, 3);
  }
}

// L L^T of what is positive definite. The diagonal of the other matrix does not show what it is.
TEST_F(DirectOnAGpu, MakesHalfOfTheFactorsWhereTheDiagonalIsPositive) {
  const RunOutcome positive = solve("generate: poisson3d, n: 12", kDirectOnGpu + "}").runs.at(0);
  if (by_cudss()) {
    EXPECT_NE(words_of(positive).find("made L L^T"), std::string::npos);
  }
  SharedFile file("indefinite.h5");
  file.write([&](hdf5::File& out) {  // [1 2; 2 1] again and again
    SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {80, 80}};
    for (std::int64_t i = 0; i < 80; ++i) {
      for (const std::int64_t j : {i / 2 * 2, i / 2 * 2 + 1}) {
        a.indices.push_back(j);
        a.data.push_back(i == j ? 1 : 2);
      }
      a.indptr.push_back(std::ssize(a.indices));
    }
    a.write(out);
  });
  const RunOutcome run = solve("file: " + file.path().string(), kDirectOnGpu + "}").runs.at(0);
  EXPECT_TRUE(run.converged) << run.reason << "\n" << words_of(run);
  EXPECT_LE(run.relative_residual, 1e-10);
  EXPECT_EQ(words_of(run).find("made L L^T"), std::string::npos) << words_of(run);
}

TEST_F(DirectOnAGpu, TheForecastIsOfThePackageThatWouldMakeTheFactors) {
  const GenerateSpec spec = {.kind = "poisson3d", .n = 12};
  const auto matrix = matrix_on_ranks(
      MPI_COMM_WORLD, generate(spec, 0, generator_shape(spec).rows).local, Cut::by_nonzeros);
  const auto forecast = forecast_direct(matrix, true, true);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->by_cudss, by_cudss());
  EXPECT_TRUE(forecast->fits);
  EXPECT_GT(forecast->nonzeros, static_cast<double>(matrix->global_rows()));
  EXPECT_LT(forecast->nonzeros, 300 * static_cast<double>(matrix->global_rows()));
  EXPECT_FALSE(forecast_direct(matrix, true, false)->by_cudss);
}

// Refinement by factors with replaced pivots is not enough, or just so: the system is solved.
TEST_F(DirectOnAGpu, SolvesWhatHasZerosOnItsDiagonal) {
  const RunOutcome run = solve("generate: saddle, n: 12", kDirectOnGpu + "}").runs.at(0);
  EXPECT_TRUE(run.converged) << run.reason << "\n" << words_of(run);
  EXPECT_LE(run.relative_residual, 1e-10);
}

// Row i has its large entry in column i + 1, and none on the diagonal. With `last`, the last row is
// that of zeros, and b is in the range of the matrix.
void write_shifted(SharedFile& file, bool last) {
  constexpr std::int64_t kSize = 90;
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {kSize, kSize}};
  std::vector<double> b;
  for (std::int64_t i = 0; i < kSize; ++i) {
    if (!last || i + 1 < kSize)
      for (const std::int64_t step : {1, 7}) {
        a.indices.push_back((i + step) % kSize);
        a.data.push_back(step == 1 ? 5 : 1);
      }
    a.indptr.push_back(std::ssize(a.indices));
    b.push_back(!last || i + 1 < kSize ? 6 : 0);
  }
  file.write([&](hdf5::File& out) {
    a.write(out);
    put(out, "b", b);
  });
}

TEST_F(DirectOnAGpu, TriesOtherFactorsWhereRefinementFails) {
  for (const bool singular : {false, true}) {
    SharedFile file("shifted.h5");
    write_shifted(file, singular);
    const RunOutcome run = solve("file: " + file.path().string(), kDirectOnGpu + "}").runs.at(0);
    EXPECT_TRUE(run.converged) << run.reason << "\n" << words_of(run);
    EXPECT_LE(run.relative_residual, 1e-10);
    EXPECT_EQ(words_of(run).find("its rank is 89 of 90") != std::string::npos, singular)
        << words_of(run);
  }
}

class DirectStepsOnAGpu : public Sequence {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(DirectStepsOnAGpu, TakeTheValuesOfEachStep) {
  write();
  for (const char* renew : {"always", "adaptive"}) {
    const RunOutcome outcome =
        run(kAllSteps, kDirectOnGpu + fmt::format(", renew: {}}}", renew)).runs.at(0);
    EXPECT_TRUE(outcome.converged) << outcome.reason;
    for (const StepOutcome& step : outcome.steps) EXPECT_LE(step.relative_residual, 1e-10);
  }
}

TEST_F(DirectOnAGpu, AnOptionNamesTheOtherPackage) {
  const PetscOption option("-pc_factor_mat_solver_type", "mumps");
  const RunOutcome run = solve("generate: poisson3d, n: 12", kDirectOnGpu + "}").runs.at(0);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_NE(words_of(run).find("MUMPS made"), std::string::npos) << words_of(run);
}

}  // namespace
}  // namespace trireme
