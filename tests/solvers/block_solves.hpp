// SPDX-License-Identifier: BSD-3-Clause
// Functions that solve for many right-hand sides at once, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "solvers/host_block_solver.hpp"
#include "solvers/solves.hpp"

namespace trireme::test {

// Calls solve(b, x, observers) for the columns `b` and, where there are any, the guesses `x0`.
// options.x0 is not used. The observer of `options` watches every column.
template <class Solve>
std::vector<Solved> solve_block_by(const Solve& solve, const std::vector<Array<double>>& b,
                                   const Options& options, const std::vector<Array<double>>& x0) {
  const std::int64_t width = std::ssize(b);
  const std::int64_t rows = width > 0 ? std::ssize(b.front()) : 0;
  Array<double> all_b(rows * width), all_x(rows * width);
  const auto in = one_after_the_other(all_b.data(), rows, width);
  const auto out = side_by_side(all_x.data(), rows, width);
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      in(i, j) = b[j][i];
      out(i, j) = x0.empty() ? NAN : x0[j][i];
    }
  std::vector<Solved> solved(b.size());
  std::vector<solvers::IterationObserver> observers;
  for (Solved& column : solved) observers.push_back(recording(options, column));
  const std::vector<solvers::SolveResult> results = solve(in, out, observers);
  EXPECT_EQ(results.size(), b.size());
  for (std::int64_t j = 0; j < width; ++j) {
    solved[j].outcome = results[j];
    for (std::int64_t i = 0; i < rows; ++i) solved[j].x.push_back(out(i, j));
  }
  return solved;
}

inline std::vector<Solved> solve_block(solvers::BlockSolver& solver,
                                       const std::vector<Array<double>>& b, const Options& options,
                                       const std::vector<Array<double>>& x0 = {}) {
  solver.weigh_rows(options.row_scale);
  const auto solve = [&](auto in, auto out, const auto& observers) {
    return solver.solve(in, out, x0.empty(), options.rule, observers);
  };
  return solve_block_by(solve, b, options, x0);
}

inline std::vector<Solved> solve_block(solvers::HostSystem& system,
                                       const std::vector<Array<double>>& b, const Options& options,
                                       const std::vector<Array<double>>& x0 = {}) {
  solvers::HostBlockSolver solver(system, options.method, options.variant, options.preconditioner,
                                  solvers::BlockForm::lockstep, options.of_method);
  return solve_block(solver, b, options, x0);
}

inline std::vector<Solved> solve_block(const CsrMatrix<double>& a,
                                       const std::vector<Array<double>>& b,
                                       const Options& options = {},
                                       const std::vector<Array<double>>& x0 = {}) {
  const auto kernel = build_host_kernel<double>(options.kernel, a.view());
  solvers::HostKernelSystem system(*kernel, a.rows);
  return solve_block(system, b, options, x0);
}

inline std::vector<Array<double>> random_columns(std::int64_t rows, std::int64_t width,
                                                 std::uint64_t seed = 1) {
  std::vector<Array<double>> columns;
  for (std::int64_t j = 0; j < width; ++j)
    columns.push_back(random_vector<double>(rows, seed + static_cast<std::uint64_t>(j)));
  return columns;
}

// Every column ended by the default rtol of 1e-8, and its x is as good.
inline void expect_solved(const CsrMatrix<double>& a, const std::vector<Array<double>>& b,
                          const std::vector<Solved>& solved) {
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, solvers::Reason::rtol) << "column " << j;
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-8) << "column " << j;
    EXPECT_EQ(std::ssize(solved[j].history), solved[j].outcome.iterations + 1) << "column " << j;
  }
}

// As expect_solved(), and the residuals are small in the scale of the rows too.
inline void expect_solved_in_every_row(const HugeRows& system, const std::vector<Array<double>>& b,
                                       const std::vector<Solved>& solved) {
  expect_solved(system.a, b, solved);
  for (std::size_t j = 0; j < b.size(); ++j)
    EXPECT_LE(system.relative_row_residual(b[j], solved[j].x), 1.0001e-8) << "column " << j;
}

// The same outcome, history and bits of x. NaN equals NaN.
inline void expect_same_bits(const Solved& one, const Solved& other) {
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
  };
  EXPECT_EQ(one.outcome.reason, other.outcome.reason);
  EXPECT_EQ(one.outcome.iterations, other.outcome.iterations);
  EXPECT_EQ(one.outcome.replacements, other.outcome.replacements);
  EXPECT_EQ(one.outcome.exact_from, other.outcome.exact_from);
  EXPECT_TRUE(same(one.history, other.history));
  EXPECT_TRUE(same(one.x, other.x));
}

}  // namespace trireme::test
