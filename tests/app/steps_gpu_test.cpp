// SPDX-License-Identifier: BSD-3-Clause
// Sequences on a GPU, where one rank overlaps its steps (app/solves/step_overlap.hpp). Run on 1 and
// 2 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/heat_sequence.hpp"
#include "app/solves/step_vectors.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

using namespace test;

const std::string kHost = "device: cpu\nkernel: csr\n", kGpu = "device: cuda\nkernel: csr-vector\n";

class SequenceOnAGpu : public Sequence {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
  }

  // Each row of /x is the solution of its own step, and the report's residuals are those of /x.
  void expect_solutions_of(const RunOutcome& run, double dt = 0.05) {
    const std::vector<Values> x = solutions();
    ASSERT_EQ(x.size(), run.steps.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const SmallMatrix a = Heat().matrix(dt * static_cast<double>(k));
      const Values b = Heat::b(dt * static_cast<double>(k));
      double of_r = 0, of_b = 0;
      for (std::int64_t row = 0; row < kRows; ++row) {
        double r = b[row];
        for (std::int64_t entry = a.indptr[row]; entry < a.indptr[row + 1]; ++entry)
          r -= a.data[entry] * x[k][a.indices[entry]];
        of_r += r * r;
        of_b += b[row] * b[row];
      }
      const double residual = std::sqrt(of_r / of_b);
      EXPECT_LE(residual, 1.02e-8) << "step " << k;
      EXPECT_NEAR(run.steps[k].relative_residual, residual, 1e-12) << "step " << k;
      EXPECT_TRUE(run.steps[k].converged) << "step " << k;
    }
  }
};

TEST_F(SequenceOnAGpu, ReportsTheResidualOfEachStepsOwnSystem) {
  write();
  for (const char* kernel : {"csr-vector", "sell", "[csr-vector, sell]"})
    for (const char* guess : {"zero", "previous", "extrapolate"}) {
      SCOPED_TRACE(fmt::format("{} {}", kernel, guess));
      const CaseOutcome outcome = run(
          kAllSteps, fmt::format("device: cuda\nkernel: {}\nsolver: {{guess: {}}}", kernel, guess));
      ASSERT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
      if (kernel[0] == '[') continue;
      expect_solutions_of(outcome.runs[0]);
      EXPECT_EQ(outcome.runs[0].solve_seconds.size(), kSteps);
      EXPECT_EQ(attribute("steps"), "5");
    }
}

// Blocks of rows as those of a process with more than 2^31 nonzeros.
TEST_F(SequenceOnAGpu, ReportsTheSameForAMatrixInBlocksOfRows) {
  write();
  most_of_block_ = 200;
  for (const char* kernel : {"csr-vector", "sell"})
    for (const char* renew : {"always", "never"}) {
      SCOPED_TRACE(fmt::format("{} {}", kernel, renew));
      const CaseOutcome outcome = run(
          kAllSteps, fmt::format("device: cuda\nkernel: {}\nsolver: {{renew: {}}}", kernel, renew));
      ASSERT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
      expect_solutions_of(outcome.runs[0]);
    }
}

TEST_F(SequenceOnAGpu, DoesTheIterationsOfTheHost) {
  write();
  for (const char* guess : {"zero", "previous", "extrapolate"}) {
    const std::string rest = fmt::format("solver: {{guess: {}, renew: always}}\n", guess);
    const CaseOutcome host = run(kAllSteps, rest + kHost), gpu = run(kAllSteps, rest + kGpu);
    for (std::size_t k = 0; k < kSteps; ++k) {
      const StepOutcome &of_host = host.runs[0].steps[k], &of_gpu = gpu.runs[0].steps[k];
      EXPECT_NEAR(static_cast<double>(of_gpu.iterations), static_cast<double>(of_host.iterations),
                  1)
          << guess << " " << k;
      EXPECT_NEAR(of_gpu.guess_residual, of_host.guess_residual,
                  1e-6 * of_host.guess_residual + 1e-9)
          << guess << " " << k;
      EXPECT_EQ(of_gpu.guess, of_host.guess);
    }
  }
}

TEST_F(SequenceOnAGpu, AnEntryKeepsWhatItDoesNotName) {
  write();
  const std::string steps =
      "[{values: /values/0, rhs: /b_of/0}, {rhs: /b_of/1}, {values: /values/1}, {}, {rhs: ones}, "
      "{values: /values/2, rhs: random}, {values: /values/3, rhs: /b_of/3}, {rhs: /b_of/4}]";
  const std::string rest = "solver: {rtol: 1e-12}\n";
  run(steps, rest + kHost);
  const std::vector<Values> expected = solutions();
  const CaseOutcome outcome = run(steps, rest + kGpu);
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  expect_near(solutions(), expected, 1e-9);
}

// Matrices, and right-hand sides whose squares leave the range of double, end the overlap.
TEST_F(SequenceOnAGpu, GoesOnWithoutOverlapWhereAStepNeedsMore) {
  write();
  add([](hdf5::File& out) {
    Values small = Heat::b(0), large = Heat().values(0);
    for (double& value : small) value *= 1e-200;
    for (double& value : large) value *= 1e200;
    put(out, "small", small);
    put(out, "large", large);
  });
  const std::pair<const char*, std::string> needs[] = {
      {"extrapolate", "{matrix: /M/2, rhs: /b_of/2}"},
      {"zero", "{file: MORE, rhs: /small}"},  // no other guess leads to so small an x
      {"zero", "{file: MORE, values: /large}"},
      {"extrapolate", "{rhs: from-ones}"}};
  for (const auto& [guess, middle] : needs) {
    SCOPED_TRACE(middle);
    const std::string rest = fmt::format("solver: {{rtol: 1e-12, guess: {}}}\n", guess);
    std::string steps =
        "[{values: /values/0, rhs: /b_of/0}, {values: /values/1, rhs: /b_of/1}, "
        "{values: /values/2}, " +
        middle + ", {values: /values/3}, {values: /values/4, rhs: /b_of/4}]";
    if (const auto at = steps.find("MORE"); at != std::string::npos) steps.replace(at, 4, more());
    const CaseOutcome host = run(steps, rest + kHost);
    ASSERT_EQ(exit_code(host), ExitCode::converged) << host.runs[0].reason;
    std::vector<Values> expected = solutions();
    const CaseOutcome gpu = run(steps, rest + kGpu);
    EXPECT_EQ(exit_code(gpu), ExitCode::converged) << gpu.runs[0].reason;
    std::vector<Values> x = solutions();
    ASSERT_EQ(x.size(), expected.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double of_guess = host.runs[0].steps[k].guess_residual;
      EXPECT_NEAR(gpu.runs[0].steps[k].guess_residual, of_guess, 1e-3 * of_guess) << "step " << k;
      const auto largest = [](const Values& v) { return std::abs(*std::ranges::max_element(v)); };
      const double scale = largest(expected[k]);
      for (double& value : x[k]) value /= scale;
      for (double& value : expected[k]) value /= scale;
    }
    expect_near(x, expected, 1e-9);
  }
}

TEST_F(SequenceOnAGpu, EndsAtAStepThatDoesNotConverge) {
  write();
  add([](hdf5::File& out) {
    const SmallMatrix a = Heat().matrix(0);
    Values values;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t entry = a.indptr[row]; entry < a.indptr[row + 1]; ++entry) {
        const auto factor = [](std::int64_t at) { return std::pow(10.0, at % 5); };
        values.push_back(a.data[entry] * factor(row) * factor(a.indices[entry]));
      }
    put(out, "hard", values);
  });
  const CaseOutcome outcome =
      run("[{values: /values/0}, {values: /values/1}, {values: /values/2}, {file: " + more() +
              ", values: /hard}, {values: /values/3}]",
          "device: cuda\nsolver: {max_iterations: 60, renew: never}");
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  ASSERT_EQ(outcome.runs[0].steps.size(), 4u);
  EXPECT_TRUE(outcome.runs[0].steps[2].converged);
  EXPECT_FALSE(outcome.runs[0].steps[3].converged);
  EXPECT_EQ(solutions().size(), 4u);
}

TEST_F(SequenceOnAGpu, LosesNothingOfTheStepsBeforeABadOne) {
  write();
  add([](hdf5::File& out) {
    Values values = Heat().values(0), b = Heat::b(0);
    values[57] = std::numeric_limits<double>::quiet_NaN();
    b[kRows - 1] = std::numeric_limits<double>::infinity();
    put(out, "values", values);
    put(out, "b", b);
    put(out, "short", Values(7, 1.0));
    put(out, "zero", Values(Heat().values(0).size(), 0.0));
    SmallMatrix().write(out, "/small");
  });
  const std::pair<const char*, std::string> at_fault[] = {
      {"values: /values", "/values[57] = nan; values must be finite"},
      {"rhs: /b", fmt::format("/b[{}] = inf", kRows - 1)},
      {"values: /short", "has the shape [7]; the matrix has"},
      {"values: /missing", "no dataset /missing"},
      {"matrix: /small", "4 x 4"},
      {"values: /zero", "diagonal"}};
  for (const auto& [bad, text] : at_fault) {
    SCOPED_TRACE(bad);
    const CaseOutcome outcome =
        run("[{values: /values/0, rhs: /b_of/0}, {values: /values/1, rhs: /b_of/1}, "
            "{values: /values/2, rhs: /b_of/2}, {file: " +
                more() + ", " + bad + "}, {values: /values/3}]",
            "device: cuda\nsolver: {renew: always}");
    EXPECT_EQ(exit_code(outcome), ExitCode::input);
    EXPECT_NE(outcome.runs[0].reason.find("step 3: "), std::string::npos) << outcome.runs[0].reason;
    EXPECT_NE(outcome.runs[0].reason.find(text), std::string::npos) << outcome.runs[0].reason;
    ASSERT_EQ(outcome.runs[0].steps.size(), 3u);
    expect_solutions_of(outcome.runs[0]);
    EXPECT_EQ(attribute("steps"), "3");
  }
}

// Rows and columns are scaled by factors that differ by powers of ten, so that the diagonal of an
// old step is a poor preconditioner.
TEST_F(SequenceOnAGpu, RenewsJacobiAsTheHostDoes) {
  write();
  add([](hdf5::File& out) {
    const SmallMatrix a = Heat().matrix(0);
    for (int k = 0; k < 4; ++k) {
      Values values;
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t entry = a.indptr[row]; entry < a.indptr[row + 1]; ++entry) {
          const auto factor = [&](std::int64_t at) {
            return std::pow(10.0, 1.3 * std::sin(static_cast<double>(at * k)));
          };
          values.push_back(a.data[entry] * factor(row) * factor(a.indices[entry]));
        }
      put(out, fmt::format("strong/{}", k), values);
    }
  });
  const std::string steps = "{count: 4, file: " + more() + ", values: '/strong/{}'}";
  const auto solver = [](const std::string& renew) {
    return "solver: {guess: zero, max_iterations: 100000, renew: " + renew + "}\n";
  };
  const CaseOutcome host = run(steps, solver("always") + kHost),
                    gpu = run(steps, solver("always") + kGpu),
                    never = run(steps, solver("never") + kGpu);
  for (std::size_t k = 0; k < 4; ++k) {
    SCOPED_TRACE(k);
    EXPECT_TRUE(gpu.runs[0].steps[k].renewed);
    const auto iterations = static_cast<double>(host.runs[0].steps[k].iterations);
    EXPECT_NEAR(static_cast<double>(gpu.runs[0].steps[k].iterations), iterations, 2);
    if (k == 0) continue;
    EXPECT_FALSE(never.runs[0].steps[k].renewed);
    EXPECT_GT(static_cast<double>(never.runs[0].steps[k].iterations), 1.2 * iterations);
  }
}

// The stream of the solve still has work to do when the other thread brings the b after the next.
TEST(StepVectorsOnAGpu, TheBOfAStepIsTakenBeforeItsMemoryIsWrittenAgain) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  constexpr std::int64_t kManyRows = 1 << 22;
  StepVectors vectors(kManyRows);
  const Values first(kManyRows, 1.0), second(kManyRows, 2.0);
  vectors.set_x(first);
  vectors.begin_step(false);
  vectors.upload_b_ahead(first);
  for (int k = 0; k < 300; ++k) vectors.begin_step(true);
  vectors.take_b_ahead();
  vectors.upload_b_ahead(second);
  const DeviceVectors now = vectors.vectors();
  EXPECT_EQ(std::ranges::count(to_host(now.b, now.producer), 1.0), kManyRows);
  vectors.take_b_ahead();
  EXPECT_EQ(std::ranges::count(to_host(now.b, now.producer), 2.0), kManyRows);
}

}  // namespace
}  // namespace trireme
