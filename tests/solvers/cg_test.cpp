// SPDX-License-Identifier: BSD-3-Clause
// The resident CG on the host has the solutions and the numbers of iterations of the textbook.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <utility>
#include <vector>

#include "solvers/cg_fixture.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

INSTANTIATE_TEST_SUITE_P(Variants, ResidentCg,
                         testing::Values(Variant::classic, Variant::single_reduction),
                         [](const auto& variant) {
                           return variant.param == Variant::classic ? "Classic" : "SingleReduction";
                         });

// The number of iterations that the textbook's Jacobi-CG takes in long double.
std::int64_t textbook_cg_iterations(const CsrMatrix<double>& a, std::span<const double> b,
                                    double rtol) {
  const std::int64_t n = a.rows;
  const Array<double> d = diagonal_of(a);
  std::vector<long double> r(b.begin(), b.end()), p(n), q(n);
  long double rho = 0, norm_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    p[i] = r[i] / d[i];
    rho += r[i] * p[i];
    norm_b += r[i] * r[i];
  }
  for (std::int64_t iteration = 1; iteration < 10000; ++iteration) {
    long double curvature = 0, next = 0, norm = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      q[i] = 0;
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        q[i] += a.values[k] * p[a.col_idx[k]];
      curvature += p[i] * q[i];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      r[i] -= rho / curvature * q[i];
      next += r[i] * r[i] / d[i];
      norm += r[i] * r[i];
    }
    if (std::sqrt(norm) <= rtol * std::sqrt(norm_b)) return iteration;
    for (std::int64_t i = 0; i < n; ++i) p[i] = r[i] / d[i] + next / rho * p[i];
    rho = next;
  }
  return -1;
}

TEST_P(ResidentCg, TakesAsManyIterationsAsTheTextbook) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 100);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_NEAR(solved.outcome.iterations, textbook_cg_iterations(a, b, 1e-8), 1);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
  ASSERT_EQ(solved.history.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
  EXPECT_NEAR(solved.history.front(), norm(b), 1e-10 * norm(b));
}

TEST_P(ResidentCg, ReportsEachNorm) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 100);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  double unpreconditioned = 0, preconditioned = 0, natural = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    unpreconditioned += b[i] * b[i];
    preconditioned += b[i] / d[i] * b[i] / d[i];
    natural += b[i] * b[i] / d[i];
  }
  const std::pair<NormKind, double> expected[] = {{NormKind::unpreconditioned, unpreconditioned},
                                                  {NormKind::preconditioned, preconditioned},
                                                  {NormKind::natural, natural}};
  for (const auto& [kind, square] : expected) {
    Options o = options();
    o.preconditioner = jacobi(d);
    o.rule.norm = kind;
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_NEAR(solved.history.front(), std::sqrt(square), 1e-12 * std::sqrt(square));
    EXPECT_LE(solved.outcome.norm, 1e-8 * std::sqrt(square));
  }
}

// Without a test, the residual would fall until r.z underflows.
TEST_P(ResidentCg, UntestedIterationsEndBeforeTheyUnderflow) {
  const CsrMatrix<double> a = grid_matrix(8);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.limit_is_success = true;
  o.rule.untested_iterations = o.rule.max_iterations = 20'000;
  EXPECT_EQ(solve(a, b, o).outcome.reason, Reason::iterations_done);
}

TEST_P(ResidentCg, NormNoneRunsToTheLimit) {
  const CsrMatrix<double> a = grid_matrix(20);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.norm = NormKind::none;
  o.rule.max_iterations = 7;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::too_many_iterations);
  EXPECT_EQ(solved.outcome.iterations, 7);
}

TEST_P(ResidentCg, StartsFromAGuessAndMeasuresAgainstB) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> truth = random_vector<double>(a.rows);
  const Array<double> b = times(a, truth);
  Options o = options();
  o.x0 = truth;
  const Array<double> error = random_vector<double>(a.rows, 3);
  for (std::int64_t i = 0; i < a.rows; ++i) o.x0[i] += 1e-6 * error[i];
  const Solved near = solve(a, b, o);
  EXPECT_LE(relative_residual(a, b, near.x), 1.0001e-8);
  EXPECT_LT(near.history.front(), 1e-5 * norm(b));
  o.rule.relative_to_initial_residual = true;
  EXPECT_GT(solve(a, b, o).outcome.iterations, near.outcome.iterations);
}

TEST_P(ResidentCg, GivesTheSameBitsForAnyNumberOfThreads) {
  const CsrMatrix<double> a = grid_matrix(110, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved one = solve(a, b, o);
  omp_set_num_threads(3);
  const Solved three = solve(a, b, o);
  omp_set_num_threads(1);
  EXPECT_EQ(one.history, three.history);
  EXPECT_EQ(one.x, three.x);
}

TEST_P(ResidentCg, GivesTheObserverTheIterateThatHasTheNorm) {
  const CsrMatrix<double> a = grid_matrix(25, 0, 10);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  int seen = 0;
  o.observer.iteration = [&](const State& s, const Iterate& it) {
    Array<double> x(it.x.begin(), it.x.end());
    if (it.step != 0)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += it.step * it.direction[i];
    EXPECT_NEAR(relative_residual(a, b, x) * norm(b), s.norm, 1e-10 * norm(b));
    ++seen;
    return Reason::running;
  };
  solve(a, b, o);
  EXPECT_GT(seen, 10);
}

TEST_P(ResidentCg, MeetsATightToleranceByTheTrueResidual) {
  const CsrMatrix<double> a = grid_matrix(50, 0, 1e6);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  o.rule.rtol = 1e-13;
  const Solved solved = solve(a, b, o);
  if (solved.outcome.reason == Reason::rtol)
    EXPECT_LE(relative_residual(a, b, solved.x), 1.05e-13);
  else
    EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
}

TEST_P(ResidentCg, NegativeDefiniteMatrixIsSolvedAsByPetsc) {
  CsrMatrix<double> a = grid_matrix(12);
  for (double& value : a.values) value = -value;
  const Array<double> b = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST_P(ResidentCg, SingularMatrixWithAConsistentRightHandSideIsSolved) {
  const CsrMatrix<double> a = path_laplacian(40);
  const Array<double> b = times(a, random_vector<double>(a.rows));
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST_P(ResidentCg, StopsWhenAskedWithTheSolutionSoFar) {
  const CsrMatrix<double> a = grid_matrix(40);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  int asked = 0;
  o.observer.stop = [&] { return ++asked > 40; };
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::interrupted);
  EXPECT_NEAR(relative_residual(a, b, solved.x) * norm(b), solved.outcome.norm, 1e-10 * norm(b));
  EXPECT_LT(relative_residual(a, b, solved.x), 1);
}

TEST_P(ResidentCg, ObeysATestOfTheCallersOwn) {
  const CsrMatrix<double> a = grid_matrix(40);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.judged_by_caller = true;
  o.observer.iteration = [](const State& s, const Iterate&) {
    return s.iterations == 9 ? Reason::atol : Reason::running;
  };
  for (const std::int64_t limit : {1000, 9}) {  // the verdict outranks the limit
    o.rule.max_iterations = limit;
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::atol);
    EXPECT_EQ(solved.outcome.iterations, 9);
  }
}

}  // namespace
}  // namespace trireme::solvers
