// SPDX-License-Identifier: BSD-3-Clause
// Sequences: each step is solved as if it were a case of its own; run on 1 and 3 ranks.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/heat_sequence.hpp"
#include "config/steps.hpp"
#include "io/colliding_patterns.hpp"
#include "io/problem.hpp"
#include "io/step_values.hpp"
#include "support/watched.hpp"

namespace trireme {
namespace {

using namespace test;

// Nothing depends on measured times, so that the bits of two runs can be compared.
const std::string kSameBits = "device: cpu\nkernel: csr\nsolver: {renew: always}";

TEST_F(Sequence, HasTheBitsOfSeparateCasesWhereNothingIsKept) {
  write();
  const std::pair<const char*, const char*> pairs[] = {
      {"csr", "cg"}, {"albus", "bicgstab"}, {"sell", "cg"}};
  for (const auto& [kernel, method] : pairs) {
    SCOPED_TRACE(fmt::format("{} {}", kernel, method));
    const std::string rest = fmt::format("kernel: {}\ndevice: cpu\n", kernel);
    const std::vector<Values> expected =
        separate(rest + fmt::format("solver: {{method: {}}}", method), nullptr);
    const CaseOutcome outcome =
        run(kAllSteps,
            rest + fmt::format("solver: {{method: {}, guess: zero, renew: always}}", method));
    EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
    EXPECT_TRUE(solutions() == expected);
  }
}

TEST_F(Sequence, SolvesWithFactorsOfEachStep) {
  write();
  const std::string rest =
      "device: cpu\nsolver: {engine: petsc, preconditioner: ilu, method: bicgstab";
  std::vector<std::int64_t> iterations;
  const std::vector<Values> expected = separate(rest + "}", &iterations);
  for (const char* kernel : {"csr", "petsc-aij"}) {
    const CaseOutcome outcome =
        run(kAllSteps, rest + fmt::format(", guess: zero, renew: always}}\nkernel: {}\n", kernel));
    EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
    expect_near(solutions(), expected, 1e-7);
    ASSERT_EQ(outcome.runs[0].steps.size(), kSteps);
    for (std::size_t k = 0; k < kSteps; ++k)
      EXPECT_EQ(outcome.runs[0].steps[k].iterations, iterations[k]) << k;
  }
}

TEST_F(Sequence, FactorsNewValuesWithMethodDirect) {
  write();
  const std::string rest = "device: cpu\nkernel: csr\nsolver: {method: direct";
  const std::vector<Values> expected = separate(rest + "}", nullptr);
  for (const char* renew : {"always", "adaptive", "never"}) {
    SCOPED_TRACE(renew);
    const CaseOutcome outcome = run(kAllSteps, rest + fmt::format(", renew: {}}}", renew));
    EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
    expect_near(solutions(), expected, 1e-7);
    ASSERT_EQ(outcome.runs[0].steps.size(), kSteps);
    for (const StepOutcome& step : outcome.runs[0].steps) {
      EXPECT_FALSE(step.rebuilt);
      if (renew == std::string("always")) {
        EXPECT_EQ(step.renewed, step.new_values);
        EXPECT_LE(step.iterations, 2);
      }
    }
  }
}

TEST_F(Sequence, ReportsEachStep) {
  write();
  const CaseOutcome outcome = run(kAllSteps, "device: cpu\nsolver: {renew: never}");
  const RunOutcome& run = outcome.runs[0];
  ASSERT_EQ(run.steps.size(), kSteps);
  EXPECT_EQ(run.solve_seconds.size(), kSteps);
  for (std::size_t k = 0; k < kSteps; ++k) {
    const StepOutcome& step = run.steps[k];
    EXPECT_EQ(step.name, fmt::format("/values/{}", k));
    EXPECT_TRUE(step.new_values);
    EXPECT_FALSE(step.rebuilt);
    EXPECT_EQ(step.renewed, k == 0);
    EXPECT_TRUE(step.converged);
    EXPECT_LE(step.relative_residual, 1.02e-8);
    EXPECT_EQ(step.guess, k == 0 ? "zero" : "previous");
  }
  EXPECT_EQ(run.steps[0].guess_residual, 1);
  EXPECT_LT(run.steps[2].guess_residual, 0.2);
  EXPECT_EQ(attribute("steps"), "5");
  EXPECT_EQ(attribute("steps_asked_for"), "5");
}

TEST_F(Sequence, ALineThroughTwoSolutionsIsTheBetterGuessOnASmoothSequence) {
  write();
  const auto residual_of = [&](const std::string& guess) {
    return run(kAllSteps, "device: cpu\nsolver: {guess: " + guess + "}")
        .runs[0]
        .steps.back()
        .guess_residual;
  };
  const double previous = residual_of("previous"), line = residual_of("extrapolate");
  EXPECT_LT(previous, 0.5);
  EXPECT_LT(line, 0.5 * previous);
  EXPECT_EQ(residual_of("zero"), 1);
}

TEST_F(Sequence, RowsOfOneDatasetAreTheStepsToo) {
  write();
  run(kAllSteps, kSameBits);
  const std::vector<Values> expected = solutions();
  run("{count: 5, values: /all_values, rhs: /all_b}", kSameBits);
  EXPECT_TRUE(solutions() == expected);
  run("[{count: 2, values: /all_values, rhs: /all_b}, {values: /values/2, rhs: /b_of/2}, "
      "{count: 2, from: 3, values: /all_values, rhs: /all_b}]",
      kSameBits);
  EXPECT_TRUE(solutions() == expected);
}

TEST_F(Sequence, AnEntryKeepsWhatItDoesNotName) {
  write();
  const CaseOutcome outcome =
      run("[{values: /values/0, rhs: /b_of/0}, {rhs: /b_of/1}, {values: /values/1}]",
          "device: cpu\nsolver: {rtol: 1e-12}");
  EXPECT_FALSE(outcome.runs[0].steps[1].new_values);
  const std::vector<Values> x = solutions();
  run("", "device: cpu\nsolver: {rtol: 1e-12}", "matrix: /M/0, rhs: /b_of/1");
  expect_near({x[1]}, solutions(), 1e-9);
  run("", "device: cpu\nsolver: {rtol: 1e-12}", "matrix: /M/1, rhs: /b_of/1");
  expect_near({x[2]}, solutions(), 1e-9);
}

TEST_F(Sequence, ARightHandSideOfOnesFollowsTheValues) {
  write();
  const CaseOutcome outcome =
      run("{count: 5, values: '/values/{}'}", "device: cpu", "rhs: from-ones");
  ASSERT_TRUE(outcome.runs[0].relative_error);
  EXPECT_LE(*outcome.runs[0].relative_error, 1e-6);
}

TEST_F(Sequence, TakesWholeMatrices) {
  write();
  run(kAllSteps, kSameBits);
  const std::vector<Values> expected = solutions();
  const CaseOutcome outcome = run("{count: 5, matrix: '/M/{}', rhs: '/b_of/{}'}", kSameBits);
  EXPECT_TRUE(solutions() == expected);
  for (const StepOutcome& step : outcome.runs[0].steps) EXPECT_FALSE(step.rebuilt);
}

TEST_F(Sequence, ValuesFollowTheOrderOfAMatrixWhoseColumnsDescend) {
  write(Heat(true));
  const CaseOutcome outcome = run(kAllSteps, kSameBits);
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  const std::vector<Values> unsorted = solutions();
  write();
  run(kAllSteps, kSameBits);
  EXPECT_TRUE(unsorted == solutions());
}

TEST_F(Sequence, AnotherPatternIsBuiltAnewAndSolved) {
  write();
  const SmallMatrix arrow = arrow_matrix(kRows);
  add([&](hdf5::File& out) { arrow.write(out); });
  const CaseOutcome outcome = run("[{values: /values/0, rhs: /b_of/0}, {file: " + more() +
                                      ", matrix: /A}, {matrix: /M/1, rhs: /b_of/1}, "
                                      "{values: /values/2}]",
                                  "device: cpu\nkernel: [csr, sell]\nsolver: {rtol: 1e-12}");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  for (const RunOutcome& run : outcome.runs) {
    EXPECT_FALSE(run.steps[0].rebuilt);
    EXPECT_TRUE(run.steps[1].rebuilt);
    EXPECT_TRUE(run.steps[2].rebuilt);
    EXPECT_FALSE(run.steps[3].rebuilt);
    EXPECT_TRUE(std::ranges::any_of(run.notes, [](const std::string& note) {
      return note.find("step 1 has a matrix for which everything was built anew") !=
             std::string::npos;
    }));
  }
  const std::vector<Values> x = solutions("solution-csr.h5");
  expect_near(solutions("solution-sell.h5"), x, 1e-9);
  Values residual = Heat::b(0);
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t k = arrow.indptr[row]; k < arrow.indptr[row + 1]; ++k)
      residual[row] -= arrow.data[k] * x[1][arrow.indices[k]];
  for (const double r : residual) ASSERT_NEAR(r, 0, 1e-9);
  run("", "device: cpu\nsolver: {rtol: 1e-12}", "matrix: /M/2, rhs: /b_of/1");
  expect_near({x[3]}, solutions(), 1e-9);
}

// On several ranks the rows go to other ranks, so that the matrix is not at hand in its own order.
TEST_F(Sequence, APatternThatWasMadeToLookLikeTheOneBeforeIsAnotherOne) {
  write();
  std::vector<SmallMatrix> pair;
  for (const int number : {0, 1}) {
    const CollidingPattern pattern(number, kRows);
    SmallMatrix& a = pair.emplace_back();
    a.shape = {kRows, kRows};
    a.indptr = pattern.row_ptr;
    a.indices = pattern.columns;
    a.data.clear();
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t k = a.indptr[row]; k < a.indptr[row + 1]; ++k)
        a.data.push_back(a.indices[k] == row ? 4.0 : 1.0);
  }
  add([&](hdf5::File& out) {
    pair[0].write(out, "/first");
    pair[1].write(out, "/second");
  });
  const CaseOutcome outcome =
      run("[{file: " + more() + ", matrix: /first}, {file: " + more() + ", matrix: /second}]",
          "device: cpu\ndistribution: graph\nsolver: {method: bicgstab, rtol: 1e-12}");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  const std::vector<Values> x = solutions();
  for (std::size_t step = 0; step < pair.size(); ++step) {
    EXPECT_TRUE(outcome.runs[0].steps[step].rebuilt || step == 0);
    const SmallMatrix& a = pair[step];
    Values residual = Heat::b(100);
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t k = a.indptr[row]; k < a.indptr[row + 1]; ++k)
        residual[row] -= a.data[k] * x[step][a.indices[k]];
    for (const double r : residual) ASSERT_NEAR(r, 0, 1e-9) << "step " << step;
  }
}

// On several ranks each pattern has a distribution of its own.
TEST_F(Sequence, ASolutionFollowsTheRowsToTheRanksOfAnotherPattern) {
  const std::vector<SmallMatrix> matrices = {Heat().matrix(0), arrow_matrix(kRows)};
  const Values x = Heat::b(3);
  std::string steps;
  write();
  add([&](hdf5::File& out) {
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const SmallMatrix& a = matrices[k];
      a.write(out, fmt::format("/M/{}", k));
      Values b(kRows, 0.0);
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t j = a.indptr[row]; j < a.indptr[row + 1]; ++j)
          b[row] += a.data[j] * x[a.indices[j]];
      put(out, fmt::format("b/{}", k), b);
    }
  });
  for (std::size_t k = 0; k < matrices.size(); ++k)
    steps += fmt::format("{}{{file: {}, matrix: /M/{}, rhs: \"{}:/b/{}\"}}", k ? ", " : "", more(),
                         k, more(), k);
  const CaseOutcome outcome =
      run("[" + steps + "]", "device: cpu\ndistribution: graph\nsolver: {rtol: 1e-10}");
  ASSERT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  EXPECT_TRUE(outcome.runs[0].steps[1].rebuilt);
  EXPECT_EQ(outcome.runs[0].steps[1].guess, "previous");
  EXPECT_LT(outcome.runs[0].steps[1].guess_residual, 1e-6);
}

TEST_F(Sequence, MayBeginWithAnotherMatrixWhoseValuesChange) {
  write();
  const SmallMatrix arrow = arrow_matrix(kRows);
  Values twice = arrow.data;
  for (double& value : twice) value *= 2;
  add([&](hdf5::File& out) {
    arrow.write(out);
    put(out, "twice", twice);
    put(out, "short", Heat().values(0));
  });
  const CaseOutcome outcome =
      run("[{file: " + more() + ", matrix: /A}, {file: " + more() + ", values: /twice}]",
          "device: cpu\nsolver: {rtol: 1e-12}");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  std::vector<Values> x = solutions();
  for (double& value : x[1]) value *= 2;
  expect_near({x[1]}, {x[0]}, 1e-9);

  // The same before anything is solved, as `solve --check` does.
  const auto check = [&](const std::string& last) {
    const Case c = case_of(
        fmt::format("file: {0}, rhs: /b, steps: [{{file: {1}, matrix: /A}}, {{file: {1}, {2}}}]",
                    file_.path().string(), more(), last),
        "");
    const Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
    const RowSlab& matrix = problem.matrix;
    StepReader(MPI_COMM_WORLD, c.problem, {matrix.first_row, matrix.local.rows, matrix.global_rows},
               matrix.local.nnz(), problem.in_stored_order)
        .check(steps_of(c.problem.steps));
  };
  EXPECT_NO_THROW(check("values: /twice"));
  EXPECT_THROW(check("values: /short"), Error);
}

TEST_F(Sequence, ASecondKernelBeginsWithTheMatrixOfTheProblemWhereOnlyLaterStepsHaveValues) {
  write();
  const CaseOutcome outcome = run("[{rhs: /b_of/0}, {values: /values/2}]",
                                  "device: cpu\nkernel: [csr, albus]\nsolver: {rtol: 1e-12}");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged);
  const std::vector<Values> x = solutions("solution-csr.h5");
  expect_near(solutions("solution-albus.h5"), x, 1e-9);
  run("", "device: cpu\nsolver: {rtol: 1e-12}", "rhs: /b_of/0");
  expect_near({x[0]}, solutions(), 1e-9);
}

TEST_F(Sequence, ValuesOfAUsualSizeAreNotScaledAfterSmallOnes) {
  write();
  add([](hdf5::File& out) {
    Values tiny = Heat().values(0);
    for (double& value : tiny) value *= 1e-200;
    put(out, "tiny", tiny);
  });
  const CaseOutcome outcome =
      run("[{file: " + more() + ", values: /tiny}, {values: /values/1}]",
          "device: cpu\nsolver: {rtol: 1e-12, guess: zero}", "rhs: /b_of/1");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  const Values last = solutions()[1];
  run("", "device: cpu\nsolver: {rtol: 1e-12}", "matrix: /M/1, rhs: /b_of/1");
  expect_near({last}, solutions(), 1e-9);
}

// The largest number of bytes that this process has had in memory.
std::int64_t peak_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} << 10;
}

TEST(LongSequence, KeepsNoMoreSolutionsThanTheNextGuessNeeds) {
  if (test::watched()) GTEST_SKIP() << "the address sanitizer keeps memory that was freed";
  const auto solve_steps = [](int steps) {
    std::string all = "{rhs: ones}";
    for (int k = 1; k < steps; ++k) all += ", {rhs: ones}";
    return solve("generate: poisson3d, n: 40, steps: [" + all + "]", "device: cpu\nkernel: csr");
  };
  solve_steps(3);
  const std::int64_t before = peak_bytes();
  const CaseOutcome outcome = solve_steps(150);
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  const std::int64_t of_a_solution = 8 * 40 * 40 * 40 / size_of(MPI_COMM_WORLD);
  EXPECT_LT(peak_bytes() - before, 50 * of_a_solution);
}

TEST_F(Sequence, EveryKernelOfAComparisonBeginsAtTheFirstStep) {
  write();
  const CaseOutcome outcome = run(kAllSteps, "device: cpu\nkernel: [csr, albus, petsc-aij]");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged);
  ASSERT_EQ(outcome.runs.size(), 3u);
  for (const RunOutcome& run : outcome.runs) {
    ASSERT_EQ(run.steps.size(), kSteps);
    for (std::size_t k = 0; k < kSteps; ++k)
      EXPECT_EQ(run.steps[k].iterations, outcome.runs[0].steps[k].iterations) << run.kernel;
  }
}

TEST_F(Sequence, MixedPrecisionGoesOnWhereValuesStopBeingNumbersOfFp32) {
  write();
  add([](hdf5::File& out) {
    Values rounded = Heat().values(0);
    for (double& value : rounded) value = std::round(64 * value) / 64;
    put(out, "rounded", rounded);
  });
  const CaseOutcome outcome =
      run("[{file: " + more() + ", values: /rounded}, {values: /values/1}]",
          "device: cpu\nkernel: albus\nprecision: mixed\nsolver: {rtol: 1e-11}", "rhs: from-ones");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  EXPECT_TRUE(outcome.runs[0].steps[1].rebuilt);
  EXPECT_LE(*outcome.runs[0].relative_error, 1e-9);
}

std::int64_t renewals(const CaseOutcome& outcome) {
  return std::ranges::count_if(outcome.runs[0].steps, &StepOutcome::renewed) - 1;
}

TEST_F(Sequence, IsRenewedWhereIterationsGrowAndOnlyThere) {
  write();
  // Rows and columns are scaled by factors that differ by powers of ten, so that the diagonal of an
  // old step is a poor preconditioner.
  add([](hdf5::File& out) {
    const SmallMatrix a = Heat().matrix(0);
    for (int k = 0; k < 16; ++k) {
      Values values;
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t entry = a.indptr[row]; entry < a.indptr[row + 1]; ++entry) {
          const auto factor = [&](std::int64_t at) {
            return k < 4 ? 1.0 : std::pow(10.0, 1.3 * std::sin(static_cast<double>(at * k)));
          };
          values.push_back(a.data[entry] * factor(row) * factor(a.indices[entry]));
        }
      put(out, fmt::format("strong/{}", k), values);
    }
  });
  const std::string strongly = "{count: 16, file: " + more() + ", values: '/strong/{}'}";
  const std::string solver =
      "device: cpu\nkernel: csr\nsolver: {guess: zero, max_iterations: 100000, renew: ";
  EXPECT_GE(renewals(run(strongly, solver + "adaptive}", "rhs: from-ones")), 1);
  EXPECT_EQ(renewals(run(strongly, solver + "never}", "rhs: from-ones")), 0);
  EXPECT_EQ(renewals(run("{count: 4, file: " + more() + ", values: '/strong/{}'}",
                         solver + "adaptive}", "rhs: from-ones")),
            0);
  EXPECT_EQ(renewals(run(kAllSteps, solver + "always}")), kSteps - 1);
}

class BadStep : public Sequence {
 protected:
  // Three steps, of which the last one is at fault: the first two are kept.
  void expect_failure(const std::string& bad, const std::string& text) {
    SCOPED_TRACE(bad);
    const CaseOutcome outcome = run("[{values: /values/0}, {values: /values/1}, " + bad + "]",
                                    "device: cpu\nsolver: {renew: always}");
    EXPECT_EQ(exit_code(outcome), ExitCode::input);
    const RunOutcome& run = outcome.runs[0];
    EXPECT_NE(run.reason.find("step 2: "), std::string::npos) << run.reason;
    EXPECT_NE(run.reason.find(text), std::string::npos) << run.reason;
    EXPECT_EQ(run.steps.size(), 2u);
    EXPECT_TRUE(run.steps[1].converged);
    EXPECT_EQ(solutions().size(), 2u);
    EXPECT_EQ(attribute("steps"), "2");
    EXPECT_EQ(attribute("steps_asked_for"), "3");
  }
};

TEST_F(BadStep, LosesNothingOfTheStepsBefore) {
  write();
  add([](hdf5::File& out) {
    Values values = Heat().values(0), b = Heat::b(0);
    values[57] = std::numeric_limits<double>::quiet_NaN();
    b[kRows - 1] = std::numeric_limits<double>::infinity();
    put(out, "values", values);
    put(out, "b", b);
    put(out, "short", Values(7, 1.0));
    Values no_diagonal(Heat().values(0).size(), 0.0);
    put(out, "zero", no_diagonal);
    SmallMatrix().write(out, "/small");
  });
  const auto in = [&](const std::string& rest) { return "{file: " + more() + ", " + rest + "}"; };
  expect_failure(in("values: /values"), "/values[57] = nan; values must be finite");
  expect_failure(in("rhs: /b"), fmt::format("/b[{}] = inf", kRows - 1));
  expect_failure(in("values: /short"), "has the shape [7]; the matrix has");
  expect_failure(in("rhs: /short"), "has the shape [7]; the matrix has 144 rows");
  expect_failure(in("values: /missing"), "no dataset /missing");
  expect_failure(in("matrix: /small"), "4 x 4");
  expect_failure(in("values: /zero"), "diagonal");
  expect_failure("{file: nowhere.h5, values: /v}", "nowhere.h5");
  expect_failure("{count: 1, from: 9, values: /all_values}", "no row 9");
}

TEST_F(BadStep, AtTheBeginningIsAnError) {
  write();
  try {
    run("{values: /missing}", "device: cpu");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(std::string(error.what()).find("step 0: "), 0u) << error.what();
  }
}

// The load falls by 1e10 from step to step, so that the solution before and the line through two of
// them are far from the next one.
TEST_F(Sequence, AGuessThatIsWorseThanZeroEndsNoSequence) {
  file_.write([](hdf5::File& out) {
    Heat().matrix(0).write(out);
    put(out, "b", Heat::b(0));
    std::vector<Values> loads;
    for (int k = 0; k < 4; ++k) {
      loads.push_back(Heat::b(0));
      for (double& value : loads.back()) value *= std::pow(1e-10, k);
    }
    put_rows(out, "loads", loads);
  });
  for (const char* engine : {"resident", "petsc"})
    for (const char* guess : {"previous", "extrapolate"}) {
      const CaseOutcome outcome =
          run("{count: 4, rhs: /loads}",
              fmt::format("device: cpu\nsolver: {{engine: {}, guess: {}}}", engine, guess));
      const RunOutcome& all = outcome.runs[0];
      EXPECT_EQ(exit_code(outcome), ExitCode::converged) << all.reason;
      ASSERT_EQ(all.steps.size(), 4u) << engine << guess;
      for (const StepOutcome& step : all.steps) {
        EXPECT_TRUE(step.converged) << step.name;
        EXPECT_EQ(step.guess, "zero");
        EXPECT_NEAR(step.guess_residual, 1, 1e-9);
        EXPECT_EQ(step.iterations, all.steps[0].iterations);
      }
      EXPECT_NE(fmt::format("{}", fmt::join(all.notes, "\n"))
                    .find("step 1, and 2 more began with 0: the guess (previous) had a residual of "
                          "1e+10 of ||b||"),
                std::string::npos);
    }
}

TEST_F(Sequence, EndsAtAStepThatDoesNotConverge) {
  write();
  const CaseOutcome outcome = run(kAllSteps, "device: cpu\nsolver: {max_iterations: 3}");
  EXPECT_EQ(exit_code(outcome), ExitCode::not_converged);
  EXPECT_EQ(outcome.runs[0].steps.size(), 1u);
  EXPECT_FALSE(outcome.runs[0].steps[0].converged);
  EXPECT_EQ(solutions().size(), 1u);
}

TEST_F(Sequence, NeedsOneRightHandSidePerStep) {
  file_.write([](hdf5::File& out) {
    Heat().matrix(0).write(out);
    put_rows(out, "b", std::vector<Values>(kRows, Values(2, 1.0)));
  });
  EXPECT_THROW(run("{rhs: ones}", "device: cpu"), Error);
}

}  // namespace
}  // namespace trireme
