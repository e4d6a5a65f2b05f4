// SPDX-License-Identifier: BSD-3-Clause
// The resident BiCGSTAB on the host: its solutions, and the reasons why it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

Options bicgstab() {
  Options o;
  o.method = Method::bicgstab;
  return o;
}

TEST(ResidentBicgstab, SolvesANonsymmetricSystem) {
  const CsrMatrix<double> a = grid_matrix(60, 3, 10);
  const Array<double> truth = random_vector<double>(a.rows), d = diagonal_of(a);
  const Array<double> b = times(a, truth);
  for (const bool preconditioned : {false, true}) {
    Options o = bicgstab();
    if (preconditioned) o.preconditioner = jacobi(d);
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
    EXPECT_LT(solved.outcome.iterations, 250);
    EXPECT_EQ(solved.history.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
  }
}

TEST(ResidentBicgstab, GoesOnWhenTheTrueResidualFallsShort) {
  const CsrMatrix<double> a = grid_matrix(50, 0.5, 1e4);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = bicgstab();
  o.preconditioner = jacobi(d);
  o.rule.rtol = 2e-14;
  const Solved solved = solve(a, b, o);
  EXPECT_GT(solved.outcome.replacements, 0);
  if (solved.outcome.reason == Reason::rtol) {
    EXPECT_LE(relative_residual(a, b, solved.x), 2.1e-14);
  } else {
    EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
    EXPECT_LE(relative_residual(a, b, solved.x), 1e-11);
  }
}

TEST(ResidentBicgstab, StartsFromAGuess) {
  const CsrMatrix<double> a = grid_matrix(30, 2);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = bicgstab();
  o.x0 = random_vector<double>(a.rows, 5);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, FindsAnExactSolutionInHalfAStep) {
  const CsrMatrix<double> a = from_dense({{2, 0}, {0, 2}});
  const Solved solved = solve(a, Array<double>{2, 6}, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.x, (Array<double>{1, 3}));
}

TEST(ResidentBicgstab, BreakdownIsReported) {
  const CsrMatrix<double> a = from_dense({{0, 1}, {-1, 0}});  // r0.A r0 = 0
  const Solved solved = solve(a, Array<double>{1, 1}, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
  for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
}

// A system whose product number `broken` gives zeros, so that r0.v is exactly 0, as it may be for
// an unlucky r0. broken = 0: all products are correct.
class BreaksDownOnce : public HostSystem {
 public:
  BreaksDownOnce(HostKernel<double>& kernel, std::int64_t rows, int broken)
      : kernel_(kernel), rows_(rows), broken_(broken) {}
  std::int64_t rows() const override { return rows_; }
  void multiply(std::span<const double> x, std::span<double> y) override {
    kernel_.multiply(x, y, Accumulate::no);
    if (++products_ == broken_) std::fill(y.begin(), y.end(), 0.0);
  }

 private:
  HostKernel<double>& kernel_;
  std::int64_t rows_;
  int broken_, products_ = 0;
};

TEST(ResidentBicgstab, BeginsAnewAfterABreakdown) {
  const CsrMatrix<double> a = grid_matrix(30, 2);
  const Array<double> b = random_vector<double>(a.rows);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  const auto run = [&](int broken) {
    BreaksDownOnce system(*kernel, a.rows, broken);
    return solve(system, b, bicgstab());
  };
  const Solved unbroken = run(0);
  EXPECT_EQ(unbroken.outcome.reason, Reason::rtol);
  EXPECT_EQ(unbroken.outcome.replacements, 0);
  const Solved late = run(1 + 2 * 8);  // v of iteration 8 is zero, after 8 correct iterations
  EXPECT_EQ(late.outcome.reason, Reason::rtol);
  EXPECT_EQ(late.outcome.replacements, 1);
  EXPECT_LE(relative_residual(a, b, late.x), 1.0001e-8);
  const Solved early = run(1 + 2 * 3);  // fewer than five iterations, so no new start
  EXPECT_EQ(early.outcome.reason, Reason::breakdown);
  EXPECT_EQ(early.outcome.iterations, 3);
  EXPECT_LT(relative_residual(a, b, early.x), 1);
}

TEST(ResidentBicgstab, NegativeDefiniteMatrixIsSolved) {
  CsrMatrix<double> a = grid_matrix(12, 1);
  for (double& value : a.values) value = -value;
  const Array<double> b = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, NanInTheRightHandSideIsReported) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  Array<double> b = random_vector<double>(a.rows);
  b[3] = std::numeric_limits<double>::quiet_NaN();
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::not_finite);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST(ResidentBicgstab, NanInTheMatrixIsReported) {
  CsrMatrix<double> a = grid_matrix(10, 1);
  a.values[40] = std::numeric_limits<double>::quiet_NaN();
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_EQ(solve(a, b, bicgstab()).outcome.reason, Reason::not_finite);
}

TEST(ResidentBicgstab, ZeroRightHandSideIsConvergedAtOnce) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  const Solved solved = solve(a, Array<double>(a.rows, 0.0), bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST(ResidentBicgstab, SingularMatrixDoesNotClaimConvergence) {
  const CsrMatrix<double> a = from_dense({{1, 1, 0}, {1, 1, 0}, {0, 0, 1}});
  const Array<double> b = {1, 2, 1};  // not in the range of a
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_LT(static_cast<int>(solved.outcome.reason), 0);
}

}  // namespace
}  // namespace trireme::solvers
