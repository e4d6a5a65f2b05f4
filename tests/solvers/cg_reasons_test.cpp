// SPDX-License-Identifier: BSD-3-Clause
// The resident CG on the host reports the reason why it ends.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solvers/cg_fixture.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

TEST_P(ResidentCg, StagnationBeyondTheArithmeticIsBreakdown) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 1e6);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.rtol = 1e-18;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
  EXPECT_TRUE(solved.outcome.stagnated);
  EXPECT_LT(relative_residual(a, b, solved.x), 1e-9);
}

TEST_P(ResidentCg, ZeroRightHandSideIsConvergedAtOnce) {
  const CsrMatrix<double> a = grid_matrix(10);
  const Array<double> b(a.rows, 0.0);
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
  EXPECT_EQ(solved.x, Array<double>(a.rows, 0.0));
}

TEST_P(ResidentCg, ZeroRightHandSideWithAGuessIsMeasuredAgainstItsResidual) {
  const CsrMatrix<double> a = grid_matrix(10);
  const Array<double> b(a.rows, 0.0);
  Options o = options();
  o.x0 = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(norm(solved.x), 1e-6);
}

TEST_P(ResidentCg, ExactGuessIsConvergedAtOnce) {
  const CsrMatrix<double> a = from_dense({{2, 0}, {0, 4}});
  Options o = options();
  o.x0 = {1, 2};
  const Solved solved = solve(a, Array<double>{2, 8}, o);
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST_P(ResidentCg, ExactSolutionInOneStep) {
  const CsrMatrix<double> a = from_dense({{3, 0}, {0, 3}});
  const Solved solved = solve(a, Array<double>{3, 6}, options());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 1);
  EXPECT_EQ(solved.x, (Array<double>{1, 2}));
}

TEST_P(ResidentCg, IndefiniteMatrixIsReported) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, -1, 0}, {0, 0, -3}});
  const Solved solved = solve(a, Array<double>{2, 1, 1}, options());
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);
  for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(ResidentCg, ZeroCurvatureIsReported) {
  const CsrMatrix<double> a = from_dense({{0, 1}, {-1, 0}});
  EXPECT_EQ(solve(a, Array<double>{1, 1}, options()).outcome.reason, Reason::indefinite_matrix);
}

TEST_P(ResidentCg, IndefinitePreconditionerIsReported) {
  const CsrMatrix<double> a = from_dense({{2, 1, 0}, {1, 3, 1}, {0, 1, 4}});
  const Array<double> d = {1, -0.4, 1};
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved solved = solve(a, Array<double>{1, 1, 1}, o);
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_preconditioner);
}

TEST_P(ResidentCg, SingularMatrixWithoutASolutionIsNotConverged) {
  const CsrMatrix<double> a = path_laplacian(40);
  Options o = options();
  o.rule.max_iterations = 300;
  const Solved solved = solve(a, Array<double>(a.rows, 1.0), o);  // b is in the null space
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);    // p.Ap = 0
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_LT(static_cast<int>(solve(a, b, o).outcome.reason), 0);
}

TEST_P(ResidentCg, NanInTheMatrixIsReported) {
  CsrMatrix<double> a = grid_matrix(10);
  a.values[17] = std::numeric_limits<double>::quiet_NaN();
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_EQ(solve(a, b, options()).outcome.reason, Reason::not_finite);
}

TEST_P(ResidentCg, NanInTheRightHandSideIsReported) {
  const CsrMatrix<double> a = grid_matrix(10);
  Array<double> b = random_vector<double>(a.rows);
  b[3] = std::numeric_limits<double>::infinity();
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::not_finite);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST_P(ResidentCg, IterationLimitIsReported) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.max_iterations = 5;
  EXPECT_EQ(solve(a, b, o).outcome.reason, Reason::too_many_iterations);
  o.rule.limit_is_success = true;
  EXPECT_EQ(solve(a, b, o).outcome.reason, Reason::iterations_done);
}

TEST_P(ResidentCg, DivergenceIsReported) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> b(a.rows, 1.0);
  Options o = options();
  o.rule.divtol = 1.0000001;  // the norm of CG's residual is not monotone here
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::diverged);
}

}  // namespace
}  // namespace trireme::solvers
