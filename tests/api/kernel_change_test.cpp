// SPDX-License-Identifier: BSD-3-Clause
// A solver that has changed its kernel, since `sell` is said to be the fastest: each solution is
// judged by a product in long double.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/work.hpp"
#include "systems.hpp"

namespace trireme::api {
namespace {

using test::grid;
using test::random_vector;

double sell_is_fastest(Operator& op, int) { return op.kernel() == "sell" ? 1 : 1000; }

class ChangedKernel : public testing::Test {
 protected:
  test::System system = grid(40, 0.1);

  Solver::Work work(const SolverOptions& options) {
    return {std::make_shared<Ranks>(nullptr), system.arrays(), options, sell_is_fastest};
  }
  void expect_solved(Solver::Work& work, std::int64_t solves_after = 10'000'000) {
    const std::vector<double> b = random_vector(system.rows);
    std::vector<double> x(b.size());
    const SolveReport report =
        work.solve(std::span(b), Vector(std::span(x)), {.solves_after = solves_after});
    EXPECT_TRUE(report.converged()) << report.text;
    EXPECT_LE(system.relative_residual(b, x), 1.03e-8);
    scaling_ = report.scaling;
  }
  void update(Solver::Work& work) {
    for (double& value : system.values)
      if (value > 0) value *= 1.02;
    work.update(system.values);
  }

  std::string scaling_;  // of the last solve
};

TEST_F(ChangedKernel, SolvesAndTakesNewValues) {
  for (const std::string preconditioner : {"jacobi", "multigrid"}) {
    SCOPED_TRACE(preconditioner);
    system = grid(40);
    auto changed = work({.method = "gmres", .preconditioner = preconditioner, .device = "cpu"});
    expect_solved(changed);
    EXPECT_EQ(changed.facts().kernel, "albus");
    const auto levels = changed.facts().levels.size();
    expect_solved(changed);
    EXPECT_EQ(changed.facts().kernel, "sell");
    EXPECT_EQ(changed.facts().levels.size(), levels);
    update(changed);
    expect_solved(changed);
    EXPECT_EQ(changed.facts().kernel, "sell");
  }
}

TEST_F(ChangedKernel, SolvesScaledSystems) {
  auto changed =
      work({.method = "bicgstab", .preconditioner = "jacobi", .device = "cpu", .scaling = "ruiz"});
  for (int k = 0; k < 2; ++k) expect_solved(changed);
  EXPECT_EQ(changed.facts().kernel, "sell");
  update(changed);
  expect_solved(changed);
}

// The operator of the scaled matrix is not that of the matrix, which new values need again.
TEST_F(ChangedKernel, SolvesASystemThatNeedsItsScalingNoLonger) {
  system = {.rows = 2000, .cols = 2000};
  system.row_ptr.push_back(0);
  std::vector<double> dominant;
  for (std::int32_t i = 0; i < 2000; ++i) {
    const std::int32_t next = (i + 1) % 2000, last = (i + 1999) % 2000;
    for (const std::int32_t column : {i, next, last}) {
      system.col_idx.push_back(column);
      system.values.push_back(column == i ? 0 : column == next ? 4 + i % 3 : 1);
      dominant.push_back(column == i ? 4 : -1);
    }
    system.row_ptr.push_back(static_cast<std::int64_t>(system.col_idx.size()));
  }
  auto changed = work({.device = "cpu"});
  for (int k = 0; k < 3; ++k) expect_solved(changed);
  EXPECT_EQ(changed.facts().kernel, "sell");
  EXPECT_NE(scaling_, "none");
  system.values = dominant;
  changed.update(system.values);
  expect_solved(changed);
  EXPECT_EQ(scaling_, "none");
}

TEST_F(ChangedKernel, SolvesManyTogether) {
  auto changed = work({.method = "gmres", .preconditioner = "jacobi", .device = "cpu"});
  for (int k = 0; k < 2; ++k) expect_solved(changed);
  EXPECT_EQ(changed.facts().kernel, "sell");
  const std::vector<double> b = random_vector(system.rows * 9);
  std::vector<double> x(b.size());
  changed.solve_many(std::span(b), Vector(std::span(x)), 9, {});
  const auto n = static_cast<std::size_t>(system.rows);
  for (std::size_t j = 0; j < 9; ++j)
    EXPECT_LE(
        system.relative_residual(std::span(b).subspan(j * n, n), std::span(x).subspan(j * n, n)),
        1.03e-8);
}

// New values come before each solve of a program that steps in time.
TEST_F(ChangedKernel, IsFoundWhereValuesAlwaysChange) {
  auto changed = work({.method = "gmres", .preconditioner = "jacobi", .device = "cpu"});
  for (int k = 0; k < 3; ++k) {
    update(changed);
    expect_solved(changed);
  }
  EXPECT_EQ(changed.facts().kernel, "sell");
}

// Iterations that led to nothing foretell no products.
TEST_F(ChangedKernel, IsNotLookedForBeforeASolveHasConverged) {
  auto tried = work({.method = "cg", .preconditioner = "none", .device = "cpu"});
  const std::vector<double> b = random_vector(system.rows);
  std::vector<double> x(b.size());
  for (int k = 0; k < 3; ++k)
    tried.solve(std::span(b), Vector(std::span(x)),
                {.max_iterations = 3, .solves_after = 10'000'000});
  EXPECT_TRUE(tried.facts().kernels.empty());
}

}  // namespace
}  // namespace trireme::api
