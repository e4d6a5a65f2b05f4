// SPDX-License-Identifier: BSD-3-Clause
// Each claim of a report is checked by a product in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>

#include "systems.hpp"

namespace trireme::api {
namespace {

using test::failure;
using test::grid;
using test::needs_another_method;
using test::random_vector;
using test::System;
using test::system_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Solved {
  SolveReport report;
  std::vector<double> x;
};

Solved solved(Solver& solver, const std::vector<double>& b, const SolveOptions& how = {}) {
  Solved result{.report = {}, .x = std::vector<double>(b.size(), kNaN)};
  result.report = solver.solve(b, result.x, how);
  return result;
}

void expect_solution(const System& system, const std::vector<double>& b, const Solved& result,
                     double rtol = 1e-8) {
  EXPECT_EQ(result.report.status, Status::converged) << result.report.text;
  const double residual = system.relative_residual(b, result.x);
  EXPECT_LE(residual, 1.03 * rtol);
  EXPECT_NEAR(result.report.relative_residual, residual, 0.01 * rtol);
}

TEST(ApiSolver, EveryMethodSolvesWithEveryPreconditionerThatItAllows) {
  const System symmetric = grid(30), nonsymmetric = grid(30, 0.5);
  const std::vector<double> b = random_vector(900);
  for (const std::string& method : methods())
    for (const std::string& preconditioner : preconditioners()) {
      const bool is_symmetric = method == "cg" || method == "minres" || method == "pipelined_cg";
      if (needs_another_method(preconditioner, is_symmetric)) continue;
      SCOPED_TRACE(method + " " + preconditioner);
      Solver solver(symmetric.arrays(), {.method = method,
                                         .preconditioner = preconditioner,
                                         .device = method == "pipelined_cg" ? "cpu" : "auto"});
      const Solved result = solved(solver, b);
      expect_solution(symmetric, b, result);
      EXPECT_EQ(result.report.method, method);
      EXPECT_EQ(result.report.preconditioner, preconditioner);
      EXPECT_EQ(static_cast<std::int64_t>(result.report.history.size()),
                result.report.iterations + 1);
    }
  for (const std::string method : {"bicgstab", "bicgstab2", "gmres"})
    for (const std::string preconditioner : {"jacobi", "ilu", "spai"}) {
      SCOPED_TRACE(method + " " + preconditioner);
      Solver solver(nonsymmetric.arrays(), {.method = method, .preconditioner = preconditioner});
      expect_solution(nonsymmetric, b, solved(solver, b));
    }
}

TEST(ApiSolver, AutoFindsAMethodByTheMatrix) {
  const std::vector<double> b = random_vector(900);
  const System symmetric = grid(30), nonsymmetric = grid(30, 0.5);
  Solver cg(symmetric.arrays()), other(nonsymmetric.arrays());
  EXPECT_EQ(solved(cg, b).report.method, "cg");
  const Solved result = solved(other, b);
  EXPECT_EQ(result.report.method, "bicgstab");
  expect_solution(nonsymmetric, b, result);
  EXPECT_NE(other.facts().matrix.find("not symmetric"), std::string::npos) << other.facts().matrix;
}

TEST(ApiSolver, AutoGoesOnWhereCgMeetsANegativeCurvature) {
  // A positive diagonal, and eigenvalues of both signs.
  const System system = system_of(200, 200, [](auto i, auto j) {
    return i == j ? 1.0 : std::abs(i - j) == 1 ? 0.9 : 0.0;
  });
  const std::vector<double> b = random_vector(200);
  Solver solver(system.arrays());
  const Solved result = solved(solver, b);
  expect_solution(system, b, result);
  EXPECT_EQ(result.report.method, "minres");
  ASSERT_EQ(result.report.attempts.size(), 2u);
  EXPECT_EQ(result.report.attempts[0].method, "cg");
  // The next solve begins with what has solved this one.
  EXPECT_EQ(solved(solver, b).report.attempts.size(), 1u);
}

TEST(ApiSolver, ANegativeDefiniteMatrixIsSolvedByMultigridToo) {
  System system = grid(40);
  for (double& value : system.values) value = -value;
  const std::vector<double> b = random_vector(1600);
  for (const std::string preconditioner : {"auto", "multigrid", "chebyshev"}) {
    SCOPED_TRACE(preconditioner);
    Solver solver(system.arrays(), {.method = "cg", .preconditioner = preconditioner});
    expect_solution(system, b, solved(solver, b));
    EXPECT_NE(solver.facts().matrix.find("negative"), std::string::npos) << solver.facts().matrix;
    const System positive = grid(40);
    solver.update(positive.values);
    expect_solution(positive, b, solved(solver, b));
  }
  Solver solver(system.arrays(), {.preconditioner = "multigrid"});
  std::vector<double> z(1600);
  solver.precondition(b, z);
  double dot = 0;
  for (std::size_t i = 0; i < z.size(); ++i) dot += b[i] * z[i];
  EXPECT_LT(dot, 0) << "M^-1 is near A^-1";
}

TEST(ApiSolver, AutoScalesWhereRowsDiffer) {
  System system = grid(20, 0.3);
  for (std::int64_t i = 0; i < system.rows; ++i)
    for (std::int64_t k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k)
      system.values[k] *= std::pow(10.0, static_cast<double>(i % 9) - 4);
  std::vector<double> x = random_vector(400), b = system.times(x);
  Solver solver(system.arrays());
  const Solved result = solved(solver, b);
  expect_solution(system, b, result);
  // Small in every row, as the header promises.
  const std::vector<double> y = system.times(result.x);
  double of_r = 0, of_b = 0;
  for (std::int64_t i = 0; i < 400; ++i) {
    double size = 0;
    for (std::int64_t k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k)
      size = std::max(size, std::abs(system.values[k]));
    of_r += (b[i] - y[i]) / size * ((b[i] - y[i]) / size);
    of_b += b[i] / size * (b[i] / size);
  }
  EXPECT_LE(std::sqrt(of_r / of_b), 1.03e-8);
}

// Without the test of rows, GMRES minimises the residual as it is.
TEST(ApiSolver, RowsCountAsTheyAreWhereAsked) {
  const System system = system_of(8, 8, [](auto i, auto j) {
    return std::pow(static_cast<double>(i + 1), static_cast<double>(7 - j));
  });
  const std::vector<double> b = {1, 0, 0, 0, 0, 0, 0, 0};
  Solver solver(system.arrays(), {.method = "gmres", .preconditioner = "none"});
  for (const bool in_every_row : {true, false}) {
    const Solved result = solved(solver, b, {.in_every_row = in_every_row, .max_iterations = 4});
    EXPECT_EQ(std::abs(result.report.history.back() - system.relative_residual(b, result.x)) < 1e-6,
              !in_every_row);
  }
}

TEST(ApiSolver, NamedScalingsSolveTheCallersSystem) {
  const System system = grid(20, 0.3);
  const std::vector<double> b = random_vector(400);
  for (const std::string scaling : {"none", "diagonal", "ruiz", "matching"}) {
    SCOPED_TRACE(scaling);
    Solver solver(system.arrays(), {.method = "gmres", .scaling = scaling});
    const Solved result = solved(solver, b);
    expect_solution(system, b, result);
    EXPECT_EQ(result.report.scaling, scaling);
  }
}

// Clocks decide, so that a busy machine may mislead a single solve.
TEST(ApiSolver, ChangesToMultigridWhereThatPays) {
  const System system = grid(180);
  const std::vector<double> b = random_vector(system.rows);
  bool changed = false;
  for (int attempt = 0; attempt < 20 && !changed; ++attempt) {
    Solver solver(system.arrays(), {.method = "cg", .device = "cpu"});
    const Solved result = solved(solver, b, {.rtol = 1e-10, .solves_after = 1000});
    expect_solution(system, b, result, 1e-10);
    EXPECT_EQ(static_cast<std::int64_t>(result.report.history.size()),
              result.report.iterations + 1);
    changed = result.report.preconditioner == "multigrid";
    if (!changed) continue;
    EXPECT_GT(result.report.set_up_seconds, 0);
    EXPECT_GT(solver.facts().levels.size(), 1u);
  }
  EXPECT_TRUE(changed);
}

TEST(ApiSolver, AnyScaleOfMatrixAndRightHandSide) {
  for (const double of_a : {1e-290, 1e-150, 1.0, 1e150, 1e290})
    for (const double of_b : {1e-290, 1.0, 1e290}) {
      if (std::abs(std::log10(of_b) - std::log10(of_a)) > 295) continue;  // x is no double
      SCOPED_TRACE(testing::Message() << of_a << " " << of_b);
      System system = grid(12);
      for (double& value : system.values) value *= of_a;
      std::vector<double> b = random_vector(144);
      for (double& value : b) value *= of_b;
      Solver solver(system.arrays());
      expect_solution(system, b, solved(solver, b));
    }
}

TEST(ApiSolver, WhatXHoldsWithoutAGuessDoesNotMatter) {
  const System system = grid(20);
  const auto rows = static_cast<std::size_t>(system.rows);
  const std::vector<double> one = random_vector(system.rows);
  std::vector<double> b;
  for (const double factor : {1.0, -2.0, 0.5, 3.0}) {
    for (const double value : one) b.push_back(factor * value);
    b.back() += factor;
  }
  for (const char* const scaling : {"none", "diagonal", "ruiz"})
    for (const char* const method : {"cg", "gmres", "auto"})
      for (const double scale : {1.0, 1e-200}) {
        SCOPED_TRACE(testing::Message() << scaling << " " << method << " " << scale);
        std::vector<double> scaled(b);
        for (double& value : scaled) value *= scale;
        const auto solutions = [&](double before) {
          Solver solver(system.arrays(), {.method = method,
                                          .preconditioner = "jacobi",
                                          .kernel = "csr",
                                          .device = "cpu",
                                          .scaling = scaling});
          std::vector<double> x(b.size(), before);
          solver.solve(std::span(scaled).first(rows), std::span(x).first(rows));
          solver.solve_many(scaled, x, 4);
          return x;
        };
        const std::vector<double> expected = solutions(0);
        EXPECT_EQ(solutions(std::numeric_limits<double>::quiet_NaN()), expected);
        EXPECT_EQ(solutions(1e300), expected);
      }
}

TEST(ApiSolver, BeginsWithAGuess) {
  const System system = grid(30);
  const std::vector<double> exact = random_vector(900, 7), b = system.times(exact);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi"});
  std::vector<double> x = exact;
  for (double& value : x) value += 1e-6;
  const SolveReport near = solver.solve(b, x, {.guess = true});
  EXPECT_TRUE(near.converged());
  EXPECT_LT(near.iterations, solved(solver, b).report.iterations * 2 / 3);
  EXPECT_LE(system.relative_residual(b, x), 1.03e-8);
  std::vector<double> far(900, 1e9), kept(900, 1e3);
  EXPECT_TRUE(solver.solve(b, far, {.guess = true}).converged());
  EXPECT_LE(system.relative_residual(b, far), 1.03e-8);
  const SolveReport from_far = solver.solve(b, kept, {.guess = true, .drop_worse_guess = false});
  EXPECT_GT(from_far.history.front(), 10);
  EXPECT_LE(system.relative_residual(b, kept), 1.03e-8);
}

TEST(ApiSolver, SolvesManyTogetherAndAloneAlike) {
  const System system = grid(25);
  constexpr std::int64_t n = 625, width = 40;
  std::vector<double> b = random_vector(n * width), x(b.size(), kNaN);
  for (std::int64_t i = 0; i < n; ++i) b[3 * n + i] = 0;
  for (std::int64_t i = 0; i < n; ++i) b[5 * n + i] *= 1e200;
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi"});
  const std::vector<SolveReport> reports = solver.solve_many(b, x, width);
  ASSERT_EQ(reports.size(), 40u);
  for (std::int64_t j = 0; j < width; ++j) {
    SCOPED_TRACE(j);
    EXPECT_TRUE(reports[j].converged()) << reports[j].text;
    const auto b_j = std::span(b).subspan(j * n, n), x_j = std::span(x).subspan(j * n, n);
    if (j == 3)
      EXPECT_TRUE(std::ranges::all_of(x_j, [](double v) { return v == 0; }));
    else
      EXPECT_LE(system.relative_residual(b_j, x_j), 1.03e-8);
  }
}

// Likewise.
TEST(ApiSolver, TimesKernelsWhereManySolvesAreAhead) {
  const System system = grid(60);
  const std::vector<double> b = random_vector(system.rows);
  for (const std::string preconditioner : {"jacobi", "multigrid"}) {
    SCOPED_TRACE(preconditioner);
    Solver solver(system.arrays(),
                  {.method = "cg", .preconditioner = preconditioner, .device = "cpu"});
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(solver.facts().kernels.empty(), k < 2);
      expect_solution(system, b, solved(solver, b, {.solves_after = 10'000'000}));
    }
    const SolverFacts facts = solver.facts();
    ASSERT_GT(facts.kernels.size(), 1U);
    EXPECT_EQ(facts.kernels[0].kernel, facts.kernel);
    EXPECT_TRUE(std::ranges::any_of(facts.kernels, [&](const KernelTrial& trial) {
      return trial.kernel != "albus" && trial.product_microseconds > 0;
    }));
    if (preconditioner == "multigrid") {
      EXPECT_EQ(facts.levels.size(), 3U);
    }
  }
  Solver named(system.arrays(), {.kernel = "csr", .device = "cpu"});
  for (int k = 0; k < 3; ++k) solved(named, b, {.solves_after = 10'000'000});
  EXPECT_TRUE(named.facts().kernels.empty());
  EXPECT_EQ(named.facts().kernel, "csr");
}

TEST(ApiSolver, KeepsMultigridInLaterSolves) {
  const System system = grid(180);
  const std::vector<double> b = random_vector(system.rows);
  bool kept = false;
  for (int attempt = 0; attempt < 20 && !kept; ++attempt) {
    Solver solver(system.arrays(), {.method = "cg", .device = "cpu"});
    const SolveOptions how{.rtol = 1e-10, .solves_after = 1000};
    kept = true;
    for (int solve = 0; solve < 4 && kept; ++solve)
      kept = solved(solver, b, how).report.preconditioner == "multigrid";
  }
  EXPECT_TRUE(kept);
}

TEST(ApiSolver, RefusesAnInverseThatIsNotSymmetricWithAMethodThatNeedsThat) {
  const System system = grid(20);
  const std::vector<double> b = random_vector(400);
  for (const std::string method : {"cg", "minres"}) {
    const std::string text = failure(
        [&] {
          Solver solver(system.arrays(), {.method = method, .preconditioner = "spai"});
          solved(solver, b);
        },
        Failure::Kind::usage);
    EXPECT_NE(text.find("is not symmetric; use one of bicgstab"), std::string::npos) << text;
  }
}

// Displacements of elastic bodies are found where nobody says that they are three per node.
TEST(ApiSolver, MultigridFindsTheNodesOfAMatrix) {
  const System system = system_of(3 * 400, 3 * 400, [](auto i, auto j) {
    const auto apart = std::abs(i / 3 - j / 3);
    if (i == j) return 12.0;
    return apart == 0 ? 0.3 : apart == 1 || apart == 20 ? (i % 3 == j % 3 ? -2.0 : 0.4) : 0.0;
  });
  const std::vector<double> b = random_vector(system.rows);
  const auto iterations = [&](std::int32_t block_size) {
    Solver solver(system.arrays(),
                  {.method = "cg", .preconditioner = "multigrid", .block_size = block_size});
    const Solved result = solved(solver, b);
    expect_solution(system, b, result);
    return result.report.iterations;
  };
  EXPECT_EQ(iterations(1), iterations(3));
}

// New values that a preconditioner cannot take leave a solver that takes the next ones.
TEST(ApiSolver, GoesOnAfterValuesThatCouldNotBeTaken) {
  const System good = grid(40);
  System bad = good;
  for (std::int64_t k = bad.row_ptr[7]; k < bad.row_ptr[8]; ++k)
    if (bad.col_idx[k] == 7) bad.values[k] = 0;
  const std::vector<double> b = random_vector(1600);
  for (const std::string preconditioner : {"multigrid", "fsai", "jacobi", "chebyshev"}) {
    SCOPED_TRACE(preconditioner);
    const bool divides = preconditioner == "multigrid" || preconditioner == "fsai";
    Solver solver(good.arrays(), {.method = "cg", .preconditioner = preconditioner});
    expect_solution(good, b, solved(solver, b));
    for (int times = 0; times < 2; ++times) {
      solver.update(bad.values);
      std::vector<double> x(1600);
      bool thrown = false;
      try {
        EXPECT_FALSE(solver.solve(b, x).converged());
      } catch (const Failure& error) {
        EXPECT_EQ(error.kind(), Failure::Kind::input) << error.what();
        thrown = true;
      }
      EXPECT_EQ(thrown, divides) << "by the diagonal";
    }
    solver.update(good.values);
    expect_solution(good, b, solved(solver, b));
  }
}

// Kershaw's matrix (J. Comput. Phys. 26, 1978): without fill, the last pivot of each block is -5.
TEST(ApiSolver, CholeskyFactorsOfADefiniteMatrixAreDefinite) {
  const double block[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  System kershaw;
  kershaw.rows = kershaw.cols = 40;
  kershaw.row_ptr = {0};
  for (std::int32_t i = 0; i < 40; ++i) {
    for (std::int32_t k = 0; k < 4; ++k)
      if (block[i % 4][k] != 0) {
        kershaw.col_idx.push_back(i / 4 * 4 + k);
        kershaw.values.push_back(block[i % 4][k]);
      }
    kershaw.row_ptr.push_back(static_cast<std::int32_t>(kershaw.col_idx.size()));
  }
  const std::vector<double> b = random_vector(40);
  Solver icc(kershaw.arrays(), {.method = "cg", .preconditioner = "icc"});
  expect_solution(kershaw, b, solved(icc, b));
}

TEST(ApiSolver, IncompleteFactorsServeManyColumns) {
  const System system = grid(30);
  constexpr std::int64_t n = 900, width = 5;
  std::vector<double> b, x(n * width, kNaN);
  for (std::uint32_t j = 0; j < width; ++j) {
    const std::vector<double> column = random_vector(n, j + 1);
    b.insert(b.end(), column.begin(), column.end());
  }
  for (const auto& [method, preconditioner] :
       {std::pair("cg", "icc"), std::pair("bicgstab", "ilu")}) {
    Solver solver(system.arrays(), {.method = method, .preconditioner = preconditioner});
    const auto reports = solver.solve_many(b, x, width);
    for (std::int64_t j = 0; j < width; ++j) {
      const auto b_j = std::span(b).subspan(j * n, n), x_j = std::span(x).subspan(j * n, n);
      EXPECT_TRUE(reports[j].converged()) << reports[j].text;
      EXPECT_LE(system.relative_residual(b_j, x_j), 1.03e-8) << j;
      std::vector<double> alone(n);
      EXPECT_NEAR(static_cast<double>(solver.solve(b_j, alone).iterations),
                  static_cast<double>(reports[j].iterations), 1);
    }
  }
}

TEST(ApiSolver, LevelsAndOrdersOfIncompleteFactorsAreTheCallers) {
  const System nonsymmetric = grid(30, 0.5);
  const std::vector<double> b = random_vector(900);
  const auto iterations = [&](std::int32_t levels, const std::string& order) {
    Solver solver(
        nonsymmetric.arrays(),
        {.method = "gmres", .preconditioner = "ilu", .ilu_levels = levels, .ilu_order = order});
    const Solved result = solved(solver, b);
    expect_solution(nonsymmetric, b, result);
    return result.report.iterations;
  };
  EXPECT_LT(iterations(2, "given"), iterations(0, "given"));
  EXPECT_GT(iterations(0, "colours"), iterations(0, "given"));
}

// What is set up is that of the new values: a new solver takes as many iterations.
TEST(ApiSolver, NewValuesAreSetUpAnew) {
  System system = grid(40);
  const std::vector<double> b = random_vector(1600);
  System changed = system;
  for (std::int64_t i = 0; i < system.rows; ++i)
    for (std::int64_t k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k)
      if (changed.col_idx[k] == i) changed.values[k] *= std::pow(10.0, static_cast<double>(i % 3));
  for (const std::string preconditioner :
       {"jacobi", "multigrid", "fsai", "chebyshev", "icc", "ilu"}) {
    SCOPED_TRACE(preconditioner);
    const SolverOptions options{.method = "cg", .preconditioner = preconditioner};
    Solver solver(system.arrays(), options), other(changed.arrays(), options);
    solved(solver, b);
    solver.update(changed.values);
    // The pattern of an approximate inverse stays that of the old values.
    EXPECT_NEAR(static_cast<double>(solved(solver, b).report.iterations),
                static_cast<double>(solved(other, b).report.iterations),
                preconditioner == "fsai" ? 4 : 2);
  }
  for (const std::string scaling : {"diagonal", "ruiz", "matching"}) {
    SCOPED_TRACE(scaling);
    Solver solver(system.arrays(), {.method = "gmres", .scaling = scaling});
    solved(solver, b);
    solver.update(changed.values);
    expect_solution(changed, b, solved(solver, b));
  }
}

// The residual of CG rises at first where eigenvalues differ.
TEST(ApiSolver, IsNeverWorseThanTheGuess) {
  const System system = system_of(100, 100, [](auto i, auto j) {
    return i == j ? std::pow(10.0, 4 * static_cast<double>(i) / 99) : 0.0;
  });
  const std::vector<double> b = random_vector(100);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "none"});
  const Solved result = solved(solver, b, {.max_iterations = 5});
  EXPECT_GT(result.report.history.back(), 1.2);
  EXPECT_LE(system.relative_residual(b, result.x), 1 + 1e-12);
  EXPECT_NEAR(result.report.relative_residual, 1, 1e-12);
  ASSERT_EQ(result.report.notes.size(), 1u);
}

// x would be below the normal numbers, where it has no digits left.
TEST(ApiSolver, DoesNotClaimASolutionThatHasNoDigits) {
  System system = grid(12);
  for (double& value : system.values) value *= 1e200;
  std::vector<double> b = random_vector(144);
  for (double& value : b) value *= 1e-121;
  Solver solver(system.arrays());
  const Solved result = solved(solver, b);
  EXPECT_FALSE(result.report.converged());
  EXPECT_NE(result.report.text.find("smallest normal double"), std::string::npos)
      << result.report.text;
  std::vector<double> many_b = b, many_x(3 * 144);
  for (int j = 0; j < 2; ++j) many_b.insert(many_b.end(), b.begin(), b.end());
  for (const SolveReport& report : solver.solve_many(many_b, many_x, 3))
    EXPECT_FALSE(report.converged());
}

// Half of the rows are 1e170 times as large, and b is 0 there: the scaled b is far from ordinary.
TEST(ApiSolver, ScalesVectorsOfScaledSystems) {
  System system = grid(12, 0.3);
  std::vector<double> b = random_vector(144);
  for (std::int64_t i = 0; i < 72; ++i) {
    b[i] = 0;
    for (std::int64_t k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k)
      system.values[k] *= 1e170;
  }
  Solver solver(system.arrays(), {.method = "gmres", .scaling = "matching"});
  std::vector<double> x(144);
  const SolveReport report = solver.solve(b, x, {.in_every_row = false});
  EXPECT_GT(report.iterations, 3) << report.text;
  EXPECT_LT(report.history.back(), 1e-6) << report.text;
  for (const double value : x) EXPECT_TRUE(std::isfinite(value));
}

// A matrix whose rows are in the wrong order: a matching puts the diagonal in its place.
TEST(ApiSolver, NewValuesReachARungThatScales) {
  const System in_order = grid(20, 0.3);
  System system{.rows = 400, .cols = 400, .row_ptr = {0}};
  for (std::int64_t i = 0; i < 400; ++i) {
    const std::int64_t from = (i * 7 + 3) % 400;
    for (std::int64_t k = in_order.row_ptr[from]; k < in_order.row_ptr[from + 1]; ++k) {
      system.col_idx.push_back(in_order.col_idx[k]);
      system.values.push_back(in_order.values[k]);
    }
    system.row_ptr.push_back(static_cast<std::int64_t>(system.values.size()));
  }
  const std::vector<double> b = random_vector(400);
  Solver solver(system.arrays());
  Solved result = solved(solver, b);
  expect_solution(system, b, result);
  EXPECT_EQ(result.report.scaling, "matching");
  EXPECT_GT(result.report.attempts.size(), 1u);
  for (std::size_t k = 0; k < system.values.size(); ++k)
    system.values[k] *= 1 + 0.5 * static_cast<double>(k % 5);
  solver.update(system.values);
  result = solved(solver, b);
  expect_solution(system, b, result);
  EXPECT_EQ(result.report.attempts.size(), 1u);
}

// In a block of a scaled system the loop claims more than b - A x shows for some columns, which are
// then solved by themselves.
TEST(ApiSolver, ColumnsThatABlockDoesNotSolveAreSolvedAlone) {
  System system = grid(20, 0.3);
  for (std::int64_t i = 0; i < system.rows; ++i)
    for (std::int64_t k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k)
      system.values[k] *= std::pow(10.0, static_cast<double>(i % 9) - 4);
  constexpr std::int64_t n = 400, width = 16;
  std::vector<double> b, x(n * width, kNaN);
  for (std::uint32_t j = 0; j < width; ++j) {
    std::vector<double> exact = random_vector(n, j + 1);
    for (double& value : exact) value *= std::pow(10.0, j);
    const std::vector<double> of_one = system.times(exact);
    b.insert(b.end(), of_one.begin(), of_one.end());
  }
  for (const double atol : {0.0, 1e-7}) {
    Solver solver(system.arrays(),
                  {.method = "bicgstab", .preconditioner = "jacobi", .scaling = "ruiz"});
    const auto reports = solver.solve_many(b, x, width, {.rtol = 1e-9, .atol = atol});
    for (std::int64_t j = 0; j < width; ++j) {
      const auto b_j = std::span(b).subspan(j * n, n), x_j = std::span(x).subspan(j * n, n);
      EXPECT_TRUE(reports[j].converged()) << reports[j].text;
      EXPECT_LE(system.relative_residual(b_j, x_j), 1.03e-9 + atol) << j;
    }
    if (solver.gpu() >= 0) continue;  // where the persistent kernel takes one after another
    const auto alone = std::ranges::count_if(
        reports, [](const SolveReport& report) { return !report.attempts.empty(); });
    EXPECT_GT(alone, 1) << "the block has solved all of its columns";
    EXPECT_LT(alone, width) << "no column was solved in a block";
  }
}

// A column that is solved together with others has no attempts of its own.
TEST(ApiSolver, TakesAllTogetherOnceItHasSolvedOne) {
  const System system = grid(25);
  constexpr std::int64_t n = 625, width = 12;
  const std::vector<double> b = random_vector(n * width);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi", .device = "cpu"});
  const auto alone = [&](const SolveOptions& how) {
    std::vector<double> x(b.size(), kNaN);
    std::int64_t count = 0;
    const std::vector<SolveReport> reports = solver.solve_many(b, x, width, how);
    for (const SolveReport& report : reports) {
      EXPECT_TRUE(report.converged()) << report.text;
      count += std::ssize(report.attempts);
    }
    return count;
  };
  EXPECT_EQ(alone({}), 1);
  EXPECT_EQ(alone({}), 0);
  int heard = 0;
  EXPECT_EQ(alone({.on_iteration = [&](const Iteration&) { return ++heard < 0; }}), 1);
  EXPECT_GT(heard, 0);
  std::vector<double> values = system.values;
  for (const double factor :
       {3.0, 1e-200}) {  // with the latter, x of the loop is scaled, and b is not
    for (double& value : values) value *= factor;
    solver.update(values);
    EXPECT_EQ(alone({}), 1) << "the loop has not solved with the new values";
    EXPECT_EQ(alone({}), 0);
  }
}

TEST(ApiSolver, ManyHaveGuessesOfTheirOwnAndStop) {
  const System system = grid(25);
  constexpr std::int64_t n = 625, width = 12;
  const std::vector<double> exact = random_vector(n * width);
  std::vector<double> b, x = exact;
  for (std::int64_t j = 0; j < width; ++j) {
    const auto of_one = system.times(std::span(exact).subspan(j * n, n));
    b.insert(b.end(), of_one.begin(), of_one.end());
  }
  for (std::int64_t i = 0; i < n; ++i) x[3 * n + i] = 1e9;  // is left out
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi"});
  const auto reports = solver.solve_many(b, x, width, {.guess = true});
  for (std::int64_t j = 0; j < width; ++j) {
    EXPECT_TRUE(reports[j].converged());
    if (j == 3)
      EXPECT_LE(reports[j].history.front(), 1.01);
    else
      EXPECT_EQ(reports[j].iterations, 0) << j;
  }
  int asked = 0;
  std::vector<double> y(n * width, 0.0);
  Solver on_cpu(system.arrays(), {.method = "cg", .preconditioner = "jacobi", .device = "cpu"});
  const auto stopped = on_cpu.solve_many(b, y, width, {.stop = [&] { return ++asked > 6; }});
  EXPECT_EQ(stopped.back().status, Status::interrupted);
  EXPECT_FALSE(stopped.back().text.empty());
}

// Likewise.
TEST(ApiSolver, ASetUpPaysForTheOthersOfMany) {
  const System system = grid(150);
  constexpr std::int64_t width = 24;
  const std::vector<double> b = random_vector(system.rows * width);
  std::vector<double> x(b.size());
  bool changed = false;
  for (int attempt = 0; attempt < 10 && !changed; ++attempt) {
    Solver solver(system.arrays(), {.method = "cg"});
    const std::vector<SolveReport> reports = solver.solve_many(b, x, width);
    for (const SolveReport& report : reports) EXPECT_TRUE(report.converged()) << report.text;
    changed = reports.back().preconditioner == "multigrid";
  }
  EXPECT_TRUE(changed);
}

TEST(ApiSolver, NewValuesAreSolvedWith) {
  for (const std::string preconditioner : {"auto", "jacobi", "multigrid", "fsai", "chebyshev"})
    for (const std::string precision : {"double", "mixed"}) {
      SCOPED_TRACE(preconditioner + " " + precision);
      System system = grid(30);
      Solver solver(system.arrays(), {.preconditioner = preconditioner, .precision = precision});
      const std::vector<double> b = random_vector(900);
      expect_solution(system, b, solved(solver, b));
      for (std::size_t k = 0; k < system.values.size(); ++k)
        if (system.values[k] > 0) system.values[k] += 1.0 / static_cast<double>(3 + k % 7);
      solver.update(system.values);
      expect_solution(system, b, solved(solver, b));
      for (double& value : system.values) value *= 1e280;
      solver.update(system.values);
      expect_solution(system, b, solved(solver, b));
    }
}

TEST(ApiSolver, NewValuesMayNeedAnotherMethod) {
  System system = grid(20);
  Solver solver(system.arrays());
  const std::vector<double> b = random_vector(400);
  EXPECT_EQ(solved(solver, b).report.method, "cg");
  system.values = grid(20, 0.4).values;
  solver.update(system.values);
  const Solved result = solved(solver, b);
  EXPECT_EQ(result.report.method, "bicgstab");
  expect_solution(system, b, result);
}

TEST(ApiSolver, ShowsIterationsAndStops) {
  const System system = grid(30);
  const std::vector<double> b = random_vector(900);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi", .device = "cpu"});
  std::vector<double> norms, seen(900);
  SolveOptions how;
  how.on_iteration = [&](const Iteration& it) {
    EXPECT_EQ(it.number, static_cast<std::int64_t>(norms.size()));
    norms.push_back(it.relative_norm);
    if (it.copy_solution) it.copy_solution(seen);
    return it.number == 5;
  };
  const Solved result = solved(solver, b, how);
  EXPECT_EQ(result.report.status, Status::interrupted);
  EXPECT_EQ(norms.size(), 6u);
  EXPECT_NEAR(system.relative_residual(b, seen), norms.back(), 1e-6 * norms.front());
  EXPECT_LT(result.report.relative_residual, 1);
  bool asked = false;
  EXPECT_EQ(solved(solver, b, {.stop = [&] { return std::exchange(asked, true); }}).report.status,
            Status::interrupted);
}

// The residual of the first step of CG is 9 times that of the guess.
TEST(ApiSolver, KeepsAGuessThatIsBetterThanWhatASolveHasReached) {
  const System system = system_of(2, 2, [](auto i, auto j) {
    return i != j ? 0.0 : i == 0 ? 1.0 : 1000.0;
  });
  const std::vector<double> b = {2, 1}, guess = {1, 0.99e-3};
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "none", .scaling = "none"});
  std::vector<double> x = guess;
  const SolveReport report =
      solver.solve(b, x, {.max_iterations = 1, .guess = true, .drop_worse_guess = false});
  EXPECT_EQ(report.status, Status::not_converged);
  EXPECT_EQ(x, guess);
  EXPECT_NEAR(report.relative_residual, system.relative_residual(b, guess), 1e-12);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes[0].substr(0, 22), "x is the initial guess");
}

TEST(ApiSolver, SaysWhyItHasNotConverged) {
  const System system = grid(30);
  const std::vector<double> b = random_vector(900);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "none"});
  const Solved few = solved(solver, b, {.max_iterations = 3});
  EXPECT_EQ(few.report.status, Status::not_converged);
  EXPECT_EQ(few.report.iterations, 3);
  EXPECT_NE(few.report.text.find("maximum of 3 iterations"), std::string::npos) << few.report.text;
  EXPECT_NEAR(system.relative_residual(b, few.x), few.report.relative_residual, 1e-10);
  const System indefinite = system_of(50, 50, [](auto i, auto j) {
    return i == j ? 1.0 : std::abs(i - j) == 1 ? 0.9 : 0.0;
  });
  Solver cg(indefinite.arrays(), {.method = "cg"});
  const Solved negative = solved(cg, random_vector(50));
  EXPECT_EQ(negative.report.status, Status::breakdown);
  EXPECT_NE(negative.report.text.find("not definite"), std::string::npos) << negative.report.text;
}

TEST(ApiSolver, EveryRungEndsOnASingularMatrix) {
  const System system =
      system_of(2, 2, [](auto i, auto j) { return i == 0 && j == 0 ? 1.0 : 0.0; });
  Solver solver(system.arrays());
  const Solved result = solved(solver, {1.0, 1.0});
  EXPECT_FALSE(result.report.converged());
  EXPECT_GT(result.report.attempts.size(), 2u);
  EXPECT_LE(result.report.relative_residual, 1) << "no worse than x = 0";
  EXPECT_NEAR(system.relative_residual(std::vector<double>{1, 1}, result.x),
              result.report.relative_residual, 1e-12);
}

TEST(ApiSolver, SmallestSystems) {
  const System none{.row_ptr = {0}};
  Solver of_none(none.arrays());
  EXPECT_TRUE(solved(of_none, {}).report.converged());
  const System one = system_of(1, 1, [](auto, auto) { return 4.0; });
  Solver of_one(one.arrays());
  const Solved result = solved(of_one, {8.0});
  EXPECT_TRUE(result.report.converged());
  EXPECT_DOUBLE_EQ(result.x[0], 2);
  Solver solver(grid(5).arrays());
  const Solved zero = solved(solver, std::vector<double>(25, 0.0));
  EXPECT_TRUE(zero.report.converged());
  EXPECT_EQ(zero.x, std::vector<double>(25, 0.0));
}

TEST(ApiSolver, DuplicatesAddUpAndColumnsNeedNoOrder) {
  System system = grid(10);
  System shuffled = system;
  shuffled.values.clear();
  shuffled.col_idx.clear();
  shuffled.row_ptr = {0};
  for (std::int64_t i = 0; i < system.rows; ++i) {
    for (std::int64_t k = system.row_ptr[i + 1]; k-- > system.row_ptr[i];)
      for (int half = 0; half < 2; ++half) {
        shuffled.col_idx.push_back(system.col_idx[k]);
        shuffled.values.push_back(system.values[k] / 2);
      }
    shuffled.row_ptr.push_back(static_cast<std::int64_t>(shuffled.values.size()));
  }
  const std::vector<double> b = random_vector(100);
  for (const std::string preconditioner : {"jacobi", "multigrid", "fsai", "block-jacobi"}) {
    Solver solver(shuffled.arrays(), {.preconditioner = preconditioner, .block_size = 2});
    expect_solution(system, b, solved(solver, b));
  }
}

TEST(ApiSolver, ModesOfElasticBodiesServeMultigrid) {
  // A chain of nodes with two unknowns each: enough to see that sizes are understood.
  const System system = system_of(400, 400, [](auto i, auto j) {
    return i == j ? 2.1 : std::abs(i - j) == 2 ? -1.0 : 0.0;
  });
  std::vector<double> coordinates;
  for (int node = 0; node < 200; ++node) coordinates.insert(coordinates.end(), {0.1 * node, 0.0});
  SolverOptions options{.preconditioner = "multigrid", .block_size = 2};
  options.coordinates = coordinates;
  options.dimensions = 2;
  const std::vector<double> b = random_vector(400);
  Solver solver(system.arrays(), options);
  expect_solution(system, b, solved(solver, b));
  options.coordinates.pop_back();
  EXPECT_NE(failure([&] { Solver bad(system.arrays(), options); }, Failure::Kind::usage)
                .find("coordinates has 399 numbers; 400 are needed"),
            std::string::npos);
}

TEST(ApiSolver, AppliesItsPreconditioner) {
  const System system = grid(40);
  const std::vector<double> r = random_vector(1600), e = random_vector(1600, 2);
  std::vector<double> z(1600), w(1600), of_twice(1600);
  Solver solver(system.arrays(), {.preconditioner = "multigrid"});
  solver.precondition(r, z);
  solver.precondition(e, w);
  double one = 0, other = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    one += e[i] * z[i];
    other += r[i] * w[i];
  }
  EXPECT_NEAR(one, other, 1e-5 * std::abs(one)) << "M is symmetric";
  Solver huge(
      [&] {
        static System scaled = system;
        for (double& value : scaled.values) value *= 1e250;
        return scaled.arrays();
      }(),
      {.preconditioner = "multigrid"});
  huge.precondition(r, of_twice);
  for (std::size_t i = 0; i < z.size(); ++i)
    EXPECT_NEAR(of_twice[i] * 1e250, z[i], 1e-5 * (1 + std::abs(z[i])));
  Solver none(system.arrays());
  failure([&] { none.precondition(r, z); }, Failure::Kind::usage);
}

TEST(ApiSolver, ThreadsMayUseDifferentSolvers) {
  const System system = grid(40);
  const std::vector<double> b = random_vector(1600);
  std::vector<std::thread> threads;
  std::vector<Solved> results(4);
  for (Solved& result : results)
    threads.emplace_back([&] {
      Solver solver(system.arrays());
      result = solved(solver, b);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Solved& result : results) expect_solution(system, b, result);
}

TEST(ApiSolver, KeepsNothingOfTheCaller) {
  auto system = std::make_unique<System>(grid(20));
  const System kept = *system;
  Solver solver(system->arrays());
  for (double& value : system->values) value = kNaN;
  system.reset();
  const std::vector<double> b = random_vector(400);
  expect_solution(kept, b, solved(solver, b));
}

TEST(ApiSolver, NamesWhatIsWrong) {
  using Kind = Failure::Kind;
  const auto text = [](const System& system, Kind kind, const SolverOptions& options = {}) {
    return failure([&] { Solver solver(system.arrays(), options); }, kind);
  };
  const auto expect = [](const std::string& all, const std::string& part) {
    EXPECT_NE(all.find(part), std::string::npos) << all;
    EXPECT_EQ(all.find('\n'), std::string::npos);
  };
  System bad = grid(4);
  bad.values[7] = kNaN;
  expect(text(bad, Kind::input), "values[7] = nan");
  bad = grid(4);
  bad.col_idx[9] = 16;
  expect(text(bad, Kind::input), "column 16 in row 2 (col_idx[9]) is out of range");
  bad.col_idx[9] = -1;
  expect(text(bad, Kind::input), "column -1");
  bad = grid(4);
  bad.row_ptr[3] = 99;
  expect(text(bad, Kind::input), "row_ptr[4]");
  bad = grid(4);
  bad.row_ptr[0] = 1;
  expect(text(bad, Kind::input), "row_ptr[0] = 1");
  bad = grid(4);
  bad.values.pop_back();
  bad.col_idx.pop_back();
  expect(text(bad, Kind::input), "there are");
  bad = grid(4);
  bad.col_idx.pop_back();
  expect(text(bad, Kind::usage), "col_idx has");
  bad = grid(4);
  bad.row_ptr.pop_back();
  expect(text(bad, Kind::usage), "row_ptr has 16 numbers; 17 are needed");
  bad = grid(4);
  bad.cols = 17;
  expect(text(bad, Kind::input), "16 x 17");
  const System good = grid(4);
  expect(text(good, Kind::usage, {.method = "sor"}), "no method 'sor'");
  expect(text(good, Kind::usage, {.preconditioner = "ilut"}), "no preconditioner 'ilut'");
  expect(text(good, Kind::usage, {.kernel = "nothing"}), "nothing");
  expect(text(good, Kind::usage, {.precision = "half"}), "precision cannot be 'half'");
  expect(text(good, Kind::usage, {.device = "tpu"}), "device cannot be 'tpu'");
  expect(text(good, Kind::usage, {.scaling = "some"}), "scaling cannot be 'some'");
  expect(text(good, Kind::usage, {.block_size = 0}), "block_size");
  expect(text(good, Kind::usage, {.restart = 0}), "restart");
  expect(text(good, Kind::usage, {.ilu_levels = 9}), "ilu_levels is 0 to 8, not 9");
  expect(text(good, Kind::usage, {.ilu_order = "red"}), "ilu_order cannot be 'red'");
  if (!has_gpu()) text(good, Kind::resource, {.device = "cuda"});

  Solver solver(good.arrays());
  std::vector<double> b(16, 1.0), x(16), few(15);
  expect(failure([&] { solver.solve(few, x); }, Kind::usage), "b has 15 numbers; 16 are needed");
  expect(failure([&] { solver.solve(b, few); }, Kind::usage), "x has 15 numbers");
  expect(failure([&] { solver.solve(b, x, {.rtol = -1}); }, Kind::usage), "rtol is -1");
  b[3] = std::numeric_limits<double>::infinity();
  expect(failure([&] { solver.solve(b, x); }, Kind::input), "b[3] = inf");
  expect(failure([&] { solver.update(few); }, Kind::usage), "values has 15 numbers");
  const System singular =
      system_of(3, 3, [](auto i, auto j) { return i == j && i != 1 ? 1.0 : 0.0; });
  Solver jacobi(singular.arrays(), {.method = "cg", .preconditioner = "jacobi"});
  std::vector<double> ones(3, 1.0), y(3);
  EXPECT_FALSE(jacobi.solve(ones, y).converged());
}

}  // namespace
}  // namespace trireme::api
