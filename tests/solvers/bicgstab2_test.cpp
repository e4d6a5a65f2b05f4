// SPDX-License-Identifier: BSD-3-Clause
// BiCGStab(2) where BiCGSTAB's polynomial of the first degree does little.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

Options options(Method method, std::int64_t max_iterations) {
  Options o;
  o.method = method;
  o.rule.max_iterations = max_iterations;
  return o;
}

// Eigenvalues `real` +- i s for 100 values of s between 1 and 3.
CsrMatrix<double> nearly_skew(double real) {
  CsrMatrix<double> a;
  a.rows = a.cols = 200;
  for (std::int32_t i = 0; i < 200; ++i) {
    const std::int32_t pair = i / 2;
    const double s = 1 + 2 * pair / 99.0;
    const std::int32_t first = 2 * pair;
    a.col_idx.insert(a.col_idx.end(), {first, first + 1});
    if (i % 2 == 0)
      a.values.insert(a.values.end(), {real, s});
    else
      a.values.insert(a.values.end(), {-s, real});
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TEST(ResidentBicgstab2, SolvesWhatIsNearlySkewWithFewerProducts) {
  const CsrMatrix<double> a = nearly_skew(0.01);
  const Array<double> b = random_vector<double>(a.rows);
  const Solved by_two = solve(a, b, options(Method::bicgstab2, 60));
  EXPECT_EQ(by_two.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, by_two.x), 1.0001e-8);
  const Solved by_one = solve(a, b, options(Method::bicgstab, 2 * 60));
  EXPECT_NE(by_one.outcome.reason, Reason::rtol) << "the test shows nothing";
}

// BiCG ends after as many steps as the matrix has eigenvalues, and an iteration has two of them.
TEST(ResidentBicgstab2, EndsAfterAsManyStepsAsThereAreEigenvalues) {
  CsrMatrix<double> a;
  a.rows = a.cols = 60;
  for (std::int32_t i = 0; i < 60; ++i) {
    a.col_idx.push_back(i);
    a.values.push_back(1 + i % 6);
    a.row_ptr.push_back(i + 1);
  }
  const Array<double> b = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, options(Method::bicgstab2, 100));
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
  EXPECT_EQ(solved.outcome.iterations, 3);
}

TEST(ResidentBicgstab2, FindsAnExactSolutionInHalfAStep) {
  const CsrMatrix<double> a = from_dense({{2, 0}, {0, 2}});
  const Solved solved = solve(a, Array<double>{2, 6}, options(Method::bicgstab2, 10));
  EXPECT_EQ(solved.x, (Array<double>{1, 3}));
}

// Its first iteration takes the residual to the smallest of the space r + span(A r, A^2 r, A^3 r,
// A^4 r) that BiCG's two steps and the minimisation allow: compared with the same in plain loops.
TEST(ResidentBicgstab2, DoesTheIterationOfThePaper) {
  const CsrMatrix<double> a = grid_matrix(12, 3, 10);
  const Array<double> b = random_vector<double>(a.rows);
  const auto n = static_cast<std::size_t>(a.rows);
  const auto dot = [&](const Array<double>& u, const Array<double>& v) {
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(u[i]) * v[i];
    return static_cast<double>(sum);
  };
  const auto add = [&](Array<double>& u, double factor, const Array<double>& v) {
    for (std::size_t i = 0; i < n; ++i) u[i] += factor * v[i];
  };
  Array<double> x(n, 0.0), r = b, u = b;
  const Array<double> shadow = b;
  Array<double> u1 = times(a, u);
  double rho = dot(r, shadow), alpha = rho / dot(u1, shadow);
  add(x, alpha, u);
  add(r, -alpha, u1);
  Array<double> r1 = times(a, r);
  const double beta = alpha * dot(r1, shadow) / rho;
  rho = dot(r1, shadow);
  for (std::size_t i = 0; i < n; ++i) u[i] = r[i] - beta * u[i], u1[i] = r1[i] - beta * u1[i];
  const Array<double> u2 = times(a, u1);
  alpha = rho / dot(u2, shadow);
  add(x, alpha, u);
  add(r, -alpha, u1);
  add(r1, -alpha, u2);
  const Array<double> r2 = times(a, r1);
  const double aa = dot(r1, r1), ab = dot(r1, r2), bb = dot(r2, r2), ra = dot(r, r1),
               rb = dot(r, r2), det = aa * bb - ab * ab;
  add(x, (ra * bb - rb * ab) / det, r);
  add(x, (rb * aa - ra * ab) / det, r1);

  const Solved solved = solve(a, b, options(Method::bicgstab2, 1));
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(solved.x[i], x[i], 1e-10 * std::abs(x[i]) + 1e-12);
}

}  // namespace
}  // namespace trireme::solvers
