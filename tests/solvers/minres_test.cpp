// SPDX-License-Identifier: BSD-3-Clause
// The resident MINRES on the host: symmetric systems that CG cannot solve.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/smallest_residuals.hpp"
#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using test::from_dense;
using test::grid_matrix;
using test::Options;
using test::relative_residual;
using test::smallest_residuals;
using test::Solved;

// A - shift I: indefinite where the shift lies within the spectrum.
CsrMatrix<double> shifted(CsrMatrix<double> a, double shift) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) a.values[k] -= shift;
  return a;
}

Options minres() {
  Options o;
  o.method = Method::minres;
  return o;
}

TEST(ResidentMinres, EveryResidualIsTheSmallestOfItsKrylovSpace) {
  for (const double shift : {0.0, 1.0, 3.5}) {
    const CsrMatrix<double> a = shifted(grid_matrix(16), shift);
    const Array<double> b = test::random_vector<double>(a.rows);
    const std::vector<double> smallest = smallest_residuals(a, b, 15);
    const Solved solved = test::solve(a, b, minres());
    ASSERT_GT(solved.history.size(), smallest.size());
    for (std::size_t k = 0; k < smallest.size(); ++k)
      EXPECT_NEAR(solved.history[k], smallest[k], 1e-9 * smallest[0]) << shift << ", step " << k;
  }
}

TEST(ResidentMinres, SolvesWhatCgMustRefuse) {
  const CsrMatrix<double> a = shifted(grid_matrix(20), 1.3);
  const Array<double> b = test::random_vector<double>(a.rows);
  EXPECT_EQ(test::solve(a, b).outcome.reason, Reason::indefinite_matrix);
  const Solved solved = test::solve(a, b, minres());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentMinres, SolvesASystemWithoutADiagonal) {
  const CsrMatrix<double> a = from_dense({{0, 1}, {1, 0}});
  const Array<double> b{1, 0};
  EXPECT_EQ(test::solve(a, b).outcome.reason, Reason::indefinite_matrix);
  const Solved solved = test::solve(a, b, minres());
  EXPECT_GT(static_cast<int>(solved.outcome.reason), 0);
  EXPECT_EQ(solved.outcome.iterations, 2);
  EXPECT_NEAR(solved.x[0], 0, 1e-15);
  EXPECT_NEAR(solved.x[1], 1, 1e-15);
}

TEST(ResidentMinres, ANegativeDefiniteMatrixIsSolvedToo) {
  CsrMatrix<double> a = grid_matrix(20);
  for (double& value : a.values) value = -value;
  const Array<double> b = test::random_vector<double>(a.rows);
  const Solved solved = test::solve(a, b, minres());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

// Rows of both signs on the diagonal.
TEST(ResidentMinres, JacobiTakesTheMagnitudesOfTheDiagonal) {
  const CsrMatrix<double> a = shifted(grid_matrix(20, 0, 10), 18);
  const Array<double> b = test::random_vector<double>(a.rows), d = test::diagonal_of(a);
  ASSERT_LT(*std::ranges::min_element(d) * *std::ranges::max_element(d), 0);
  Options o = minres();
  o.preconditioner = test::jacobi(d);
  EXPECT_EQ(test::solve(a, b, o).outcome.reason, Reason::indefinite_preconditioner);
  o.preconditioner.magnitudes = true;
  const Solved solved = test::solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
  Array<double> inverse = d;
  for (double& value : inverse) value = 1 / std::abs(value);
  o.preconditioner.magnitudes = false;
  o.preconditioner.inverse_diagonal = inverse;
  EXPECT_EQ(test::solve(a, b, o).history, solved.history);
  for (double& value : inverse) value = -value;
  o.preconditioner.magnitudes = true;
  EXPECT_EQ(test::solve(a, b, o).history, solved.history);
}

TEST(ResidentMinres, JacobiAndItsBlocksServeANegativeDefiniteMatrix) {
  CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const Array<double> b = test::random_vector<double>(a.rows);
  Options o = minres();
  const auto histories = [&] {
    const Array<double> d = test::diagonal_of(a);
    const test::BlocksOf blocks(a, 4);
    std::vector<std::vector<double>> all;
    for (const PreconditionerSpec& spec : {test::jacobi(d), blocks.spec}) {
      o.preconditioner = spec;
      o.preconditioner.magnitudes = true;
      const Solved solved = test::solve(a, b, o);
      EXPECT_EQ(solved.outcome.reason, Reason::rtol);
      EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
      all.push_back(solved.history);
    }
    return all;
  };
  const auto positive = histories();
  for (double& value : a.values) value = -value;
  EXPECT_EQ(histories(), positive);
}

TEST(ResidentMinres, TheNaturalNormNeverGrows) {
  const CsrMatrix<double> a = shifted(grid_matrix(20, 0, 10), 1.3);
  const Array<double> b = test::random_vector<double>(a.rows);
  Array<double> positive(a.rows);
  for (std::size_t i = 0; i < positive.size(); ++i) positive[i] = 1.0 / (1 + i % 3);
  Options o = minres();
  o.rule.norm = NormKind::natural;
  o.preconditioner.kind = PreconditionerKind::jacobi;
  o.preconditioner.inverse_diagonal = positive;
  const Solved solved = test::solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  ASSERT_GT(solved.history.size(), 20u);
  for (std::size_t k = 1; k < solved.history.size(); ++k)
    EXPECT_LE(solved.history[k], solved.history[k - 1] * (1 + 1e-12)) << k;
}

TEST(ResidentMinres, AnIndefinitePreconditionerIsRefused) {
  const CsrMatrix<double> a = from_dense({{2, 1, 0}, {1, -3, 1}, {0, 1, 4}});
  const Array<double> b{1, 1, 1}, d = test::diagonal_of(a);
  Options o = minres();
  o.preconditioner = test::jacobi(d);
  EXPECT_EQ(test::solve(a, b, o).outcome.reason, Reason::indefinite_preconditioner);
}

TEST(ResidentMinres, ASingularSystemWithASolutionIsSolved) {
  const CsrMatrix<double> a = test::path_laplacian(40);
  const Array<double> b = test::times(a, test::random_vector<double>(a.rows));
  const Solved solved = test::solve(a, b, minres());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentMinres, ASingularSystemWithoutASolutionIsNotConverged) {
  const CsrMatrix<double> a = test::path_laplacian(40);
  Options o = minres();
  o.rule.max_iterations = 500;
  const Solved solved = test::solve(a, Array<double>(a.rows, 1.0), o);
  EXPECT_LT(static_cast<int>(solved.outcome.reason), 0);
}

TEST(ResidentMinres, TwoEigenvaluesTakeTwoIterations) {
  const CsrMatrix<double> a =
      from_dense({{3, 0, 0, 0}, {0, -2, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, -2}});
  const Solved solved = test::solve(a, Array<double>{1, 2, 3, 4}, minres());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_EQ(solved.outcome.iterations, 2);
}

}  // namespace
}  // namespace trireme::solvers
