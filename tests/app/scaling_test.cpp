// SPDX-License-Identifier: BSD-3-Clause
// Cases with solver.scaling; run on 1 and 3 ranks.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/run_kernel.hpp"
#include "app/solved_cases.hpp"
#include "base/error.hpp"
#include "io/hdf5.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using namespace test;

// D_1 A D_2 P of a convection on a line, or with `symmetric` D_1 A D_1 of a diffusion, with scales
// from 10^-decades to 10^decades.
struct ScaledLine {
  static constexpr std::int64_t rows = 60;
  SmallMatrix matrix{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  std::vector<double> b, x, x0;

  ScaledLine(double decades, bool symmetric, std::int64_t shift = 0) {
    const auto scale = [&](std::int64_t i, std::int64_t step) {
      return std::pow(10, decades * (static_cast<double>(i * step % 41) / 20 - 1));
    };
    const double lower = symmetric ? -1 : -1.6, upper = symmetric ? -1 : -0.3;
    b.assign(rows, 0);
    x.assign(rows, 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const double of_row = scale(i, 7);
      std::vector<std::pair<std::int64_t, double>> row;
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(rows, i + 2); ++j) {
        const double value = j < i ? lower : j > i ? upper : 2.1;
        const double of_column = symmetric ? scale(j, 7) : scale(j, 11);
        const std::int64_t column = (j + shift) % rows;
        row.emplace_back(column, of_row * value * of_column);
        const double unscaled = 1 + static_cast<double>(j * j % 7);  // of the solution
        b[i] += of_row * value * unscaled;
        x[column] = unscaled / of_column;
      }
      std::sort(row.begin(), row.end());
      for (const auto& [column, value] : row) {
        matrix.indices.push_back(column);
        matrix.data.push_back(value);
      }
      matrix.indptr.push_back(std::ssize(matrix.indices));
    }
    x0 = x;
    for (double& value : x0) value *= 0.5;
  }
};

std::string words(const RunOutcome& run) {
  return fmt::format("{}; {}", run.reason, fmt::join(run.notes, "; "));
}

class ScaledCases : public testing::Test {
 protected:
  ScaledCases() : file_("scaled.h5") {}

  void write(const ScaledLine& line) {
    file_.write([&](hdf5::File& out) {
      line.matrix.write(out);
      put(out, "b", line.b);
      put(out, "x_exact", line.x);
      put(out, "guess", line.x0);
    });
  }
  RunOutcome run(const std::string& solver, const std::string& problem = "") const {
    return solve("file: " + file_.path().string() + problem,
                 "device: cpu\nkernel: csr\nsolver: {" + solver + "}\n")
        .runs.at(0);
  }

  SharedFile file_;
};

void expect_solved(const RunOutcome& run, double rtol) {
  EXPECT_TRUE(run.converged) << words(run);
  EXPECT_EQ(run.exit_code, ExitCode::converged);
  EXPECT_LE(run.relative_residual, 1.02 * rtol);
  EXPECT_LE(run.relative_row_residual.value_or(0), 1.02 * rtol);
}

TEST_F(ScaledCases, SymmetricSystemsAreSolvedByMethodsForThem) {
  write(ScaledLine(3, true));
  for (const char* scaling : {"none", "diagonal", "ruiz", "matching"})
    for (const char* method : {"cg", "minres", "bicgstab", "direct"}) {
      SCOPED_TRACE(fmt::format("{} {}", scaling, method));
      const RunOutcome found = run(fmt::format(
          "method: {}, scaling: {}, rtol: 1e-10, max_iterations: 2000", method, scaling));
      expect_solved(found, 1e-10);
      EXPECT_EQ(to_string(found.scaling), scaling);
    }
}

// Without a scaling, the rows of this system have a zero on the diagonal.
TEST_F(ScaledCases, MatchingMakesADiagonal) {
  write(ScaledLine(4, false, 20));
  const std::string refusal =
      error_of("file: " + file_.path().string(),
               "device: cpu\nsolver: {method: bicgstab, scaling: ruiz}", ExitCode::input);
  EXPECT_NE(refusal.find("zero on the diagonal"), std::string::npos) << refusal;
  for (const char* solver :
       {"method: bicgstab", "method: bicgstab2", "method: bicgstab, preconditioner: ilu",
        "method: gmres, preconditioner: ilu", "method: direct"}) {
    SCOPED_TRACE(solver);
    const RunOutcome found =
        run(fmt::format("{}, scaling: matching, rtol: 1e-10", solver), ", x_exact: /x_exact");
    expect_solved(found, 1e-10);
    EXPECT_LE(*found.relative_error, 1e-6);
  }
}

TEST_F(ScaledCases, TakeTheRangeOfDouble) {
  for (const bool symmetric : {true, false}) {
    write(ScaledLine(140, symmetric));
    for (const char* solver :
         {"method: bicgstab, scaling: ruiz", "method: direct, scaling: matching",
          "method: bicgstab, scaling: matching, preconditioner: none"}) {
      if (std::string(solver).ends_with("none") && size_of(MPI_COMM_WORLD) > 1) continue;
      SCOPED_TRACE(fmt::format("{} {}", solver, symmetric));
      const RunOutcome found = run(solver, ", x_exact: /x_exact");
      expect_solved(found, 1e-8);
      if (symmetric) {
        EXPECT_LE(*found.relative_error, 1e-5);
      }
    }
  }
}

TEST_F(ScaledCases, SolveForSeveralRightHandSidesAtOnce) {
  write(ScaledLine(3, false));
  for (const char* block : {"1", "4"}) {
    const RunOutcome found = run(fmt::format("method: bicgstab, scaling: ruiz, block: {}", block),
                                 ", rhs: random, rhs_count: 4");
    ASSERT_EQ(found.columns.size(), 4u);
    for (const ColumnOutcome& column : found.columns) {
      EXPECT_TRUE(column.converged) << column.reason;
      EXPECT_LE(column.relative_residual, 1.02e-8);
      ASSERT_FALSE(column.history.empty());
      EXPECT_NEAR(column.history.front(), 1, 1e-12);
    }
  }
}

// What is asked for in units of b is the norm of the residual of the problem.
TEST_F(ScaledCases, KeepWhatToleranceMeans) {
  write(ScaledLine(3, true));
  double of_b = 0;
  for (const double value : ScaledLine(3, true).b) of_b = std::hypot(of_b, value);
  const RunOutcome by_atol =
      run(fmt::format("method: cg, scaling: ruiz, rtol: 0, norm: residual, atol: {}", 1e-7 * of_b));
  EXPECT_TRUE(by_atol.converged) << words(by_atol);
  EXPECT_LE(by_atol.relative_residual, 1.02e-7);
  EXPECT_LE(by_atol.history.back(), 1.01e-7) << words(by_atol);
  EXPECT_GE(by_atol.history.back(), 1e-10) << words(by_atol);
  for (const char* norm : {"residual", "rows", "both"}) {
    const RunOutcome found = run(fmt::format("method: cg, scaling: diagonal, norm: {}", norm));
    EXPECT_TRUE(found.converged) << norm << ": " << words(found);
    EXPECT_EQ(found.history.size(), static_cast<std::size_t>(found.iterations) + 1) << norm;
  }
}

// The guess has half of the solution, so that the first residual is half of b.
TEST_F(ScaledCases, BeginFromTheGuessOfTheProblem) {
  write(ScaledLine(2, false));
  const RunOutcome found =
      run("method: bicgstab, scaling: ruiz", ", x0: /guess, x_exact: /x_exact");
  expect_solved(found, 1e-8);
  EXPECT_NEAR(found.history.front(), 0.5, 1e-6);
  EXPECT_LE(*found.relative_error, 1e-5);
}

TEST_F(ScaledCases, SayThatAMatrixIsSingularByItsPattern) {
  ScaledLine line(1, false);
  const std::int64_t row = 30;
  for (std::int64_t k = line.matrix.indptr[row]; k < line.matrix.indptr[row + 1]; ++k)
    line.matrix.data[k] = 0;
  write(line);
  const RunOutcome found = run("method: bicgstab, scaling: matching");
  EXPECT_EQ(found.exit_code, ExitCode::breakdown);
  EXPECT_FALSE(found.converged);
  EXPECT_NE(found.reason.find("structural rank is 59 of 60, and row 30 (from 0)"),
            std::string::npos)
      << found.reason;
}

// Where rank 0 cannot take the matrix. Blocks without a matching do not make it singular, and a
// stopped run goes on with the matching that it had.
TEST_F(ScaledCases, SayThatEachRankMatchedItsOwnRows) {
  write(ScaledLine(1, false, 20));
  const Case c = case_of("file: " + file_.path().string(),
                         "device: cpu\nkernel: csr\nsolver: {method: bicgstab, preconditioner: "
                         "none, scaling: matching, max_iterations: 2}");
  const SavedRunFile state(file_.path().parent_path());
  const auto run = [&](std::int64_t most_on_rank_zero, bool resume) {
    Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
    const RowRange rows{problem.matrix.first_row, problem.matrix.local.rows, 60};
    const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
    PlainProduct plain(matrix);
    const SolveContext context{
        .spec = c,
        .problem = problem,
        .matrix = matrix,
        .plain = plain,
        .checkpoints =
            CheckpointSettings{.file = state, .identity = {}, .rows = rows, .resume = resume},
        .matching = {.most_on_rank_zero = most_on_rank_zero}};
    return run_kernel(context, {.kernel = {.name = "csr"}}, {}).outcome;
  };
  EXPECT_EQ(words(run(kMostOnRankZero, false)).find("scaling: matching"), std::string::npos);
  if (size_of(MPI_COMM_WORLD) == 1) return;
  try {
    run(0, true);
    FAIL() << "resumed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("the matching was of the whole matrix and is of the rows of each of 3"),
              std::string::npos)
        << error.what();
  }
  const RunOutcome found = run(0, false);
  EXPECT_EQ(found.reason.find("singular"), std::string::npos) << found.reason;
  EXPECT_NE(words(found).find("matching matched the rows and columns of each rank by themselves"),
            std::string::npos)
      << words(found);
  EXPECT_NE(words(found).find("; this leaves "), std::string::npos) << words(found);
}

class ScaledSequences : public ScaledCases {
 protected:
  // `count` steps: the values of `first`, but from step `others_from` on those of `other`. Both
  // drift from step to step.
  void write_steps(const ScaledLine& first, std::int64_t count, std::int64_t others_from,
                   const std::vector<double>& other) {
    file_.write([&](hdf5::File& out) {
      first.matrix.write(out);
      put(out, "b", first.b);
      for (std::int64_t k = 0; k < count; ++k) {
        std::vector<double> values = k < others_from ? first.matrix.data : other;
        for (std::size_t e = 0; e < values.size(); ++e)
          values[e] *= 1 + 0.05 * static_cast<double>(k * static_cast<std::int64_t>(e % 5));
        put(out, fmt::format("values/{}", k), values);
      }
    });
  }
  RunOutcome run_steps(const std::string& solver, std::int64_t count) const {
    return run(solver,
               fmt::format(", rhs: /b, steps: {{count: {}, values: '/values/{{}}'}}", count));
  }
};

std::string note_on_scaling(const RunOutcome& run) {
  const auto note = std::ranges::find_if(run.notes, [](const std::string& text) {
    return text.starts_with("scaling: ") && text.find(" was found ") != std::string::npos;
  });
  return note == run.notes.end() ? "" : *note;
}

constexpr std::int64_t kShift = 20;  // of the large entries, so that a matching moves columns

TEST_F(ScaledSequences, KeepTheScalingOfTheFirstStep) {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [scaling, rest] : {Pair("diagonal", "bicgstab"), Pair("ruiz", "bicgstab"),
                                      Pair("ruiz", "bicgstab, preconditioner: ilu"),
                                      Pair("matching", "bicgstab"), Pair("matching", "direct")}) {
    SCOPED_TRACE(fmt::format("{} {}", scaling, rest));
    const bool moves = scaling == std::string("matching");
    write_steps(ScaledLine(2, false, moves ? kShift : 0), 4, 4, {});
    const RunOutcome found = run_steps(
        fmt::format("scaling: {}, guess: extrapolate, rtol: 1e-10, method: {}", scaling, rest), 4);
    expect_solved(found, 1e-10);
    ASSERT_EQ(found.steps.size(), 4u);
    for (const StepOutcome& step : found.steps) {
      EXPECT_TRUE(step.converged);
      EXPECT_FALSE(step.rebuilt);
    }
    EXPECT_LT(found.steps[1].guess_residual, 0.5);
    EXPECT_EQ(found.steps[3].guess, "extrapolate");
    EXPECT_EQ(note_on_scaling(found),
              fmt::format("scaling: {} was found once for 4 steps", scaling));
  }
}

// The loop tests the residual in the rows of the file in every step.
TEST_F(ScaledSequences, SolveEqualStepsInEqualIterations) {
  const ScaledLine line(2, false);
  file_.write([&](hdf5::File& out) {
    line.matrix.write(out);
    put(out, "b", line.b);
    for (std::int64_t k = 0; k < 3; ++k) put(out, fmt::format("values/{}", k), line.matrix.data);
  });
  for (const char* norm : {"residual", "rows", "both"}) {
    const RunOutcome found = run_steps(
        fmt::format("scaling: ruiz, guess: zero, rtol: 1e-6, method: bicgstab, norm: {}", norm), 3);
    ASSERT_EQ(found.steps.size(), 3u);
    for (const StepOutcome& step : found.steps)
      EXPECT_EQ(step.iterations, found.steps[0].iterations) << norm;
  }
}

// From step 2 on, the large entries couple the rows and columns of each pair.
TEST_F(ScaledSequences, FindItAnewWhereItHasBecomePoor) {
  const ScaledLine line(2, false, kShift);
  std::vector<double> pairs = line.matrix.data;
  for (std::int64_t i = 0; i < ScaledLine::rows; ++i)
    for (std::int64_t k = line.matrix.indptr[i]; k < line.matrix.indptr[i + 1]; ++k) {
      const std::int64_t j =
          (line.matrix.indices[k] + ScaledLine::rows - kShift) % ScaledLine::rows;
      if (j / 2 != i / 2 || j == i) pairs[k] *= 1e-4;
    }
  write_steps(line, 4, 2, pairs);
  for (const char* method : {"bicgstab", "direct"}) {
    const RunOutcome found =
        run_steps(fmt::format("method: {}, scaling: matching, rtol: 1e-10", method), 4);
    expect_solved(found, 1e-10);
    ASSERT_EQ(found.steps.size(), 4u);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(found.steps[k].rebuilt, k == 2) << k;
    EXPECT_EQ(note_on_scaling(found),
              "scaling: matching was found 2 times for 4 steps; before step 2, it was poor for the "
              "first time, and everything was built anew");
  }
}

TEST_F(ScaledSequences, FindItForAnotherPattern) {
  write_steps(ScaledLine(2, false), 2, 2, {});
  SharedFile other("other.h5");
  const ScaledLine moved(2, false, 1);
  other.write([&](hdf5::File& out) { moved.matrix.write(out); });
  const auto steps = fmt::format(
      ", rhs: /b, steps: [{{values: /values/0}}, {{file: {}, matrix: /A}}]", other.path().string());
  const RunOutcome found = run("method: bicgstab, scaling: matching", steps);
  expect_solved(found, 1e-8);
  EXPECT_TRUE(found.steps.at(1).rebuilt);
  // With ruiz, the diagonal of the second matrix has zeros, which the preconditioner refuses.
  const RunOutcome refused = run("method: bicgstab, scaling: ruiz", steps);
  EXPECT_EQ(refused.exit_code, ExitCode::input);
  EXPECT_NE(refused.reason.find("step 1: "), std::string::npos) << refused.reason;
  EXPECT_EQ(refused.steps.size(), 1u);
}

TEST_F(ScaledSequences, EndWithAStepThatIsSingularByItsPattern) {
  const ScaledLine line(1, false);
  std::vector<double> singular = line.matrix.data;
  for (std::int64_t k = line.matrix.indptr[30]; k < line.matrix.indptr[31]; ++k) singular[k] = 0;
  write_steps(line, 3, 2, singular);
  const RunOutcome found = run_steps("method: bicgstab, scaling: matching", 3);
  EXPECT_EQ(found.exit_code, ExitCode::breakdown);
  EXPECT_EQ(found.steps.size(), 2u);
  EXPECT_NE(found.reason.find("step 2: breakdown: the matrix is singular"), std::string::npos)
      << found.reason;
  EXPECT_NE(found.reason.find("row 30 (from 0)"), std::string::npos) << found.reason;
}

}  // namespace
}  // namespace trireme
