// SPDX-License-Identifier: BSD-3-Clause
// Block CG on the host, and the small matrices that it computes with.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "solvers/block_solves.hpp"
#include "solvers/gauss_seidel.hpp"
#include "solvers/methods/small_matrix.hpp"

namespace trireme::solvers {
namespace {

using test::expect_solved;
using test::from_dense;
using test::grid_matrix;
using test::Options;
using test::random_columns;
using test::relative_residual;
using test::Solved;

std::vector<Solved> block_cg(const CsrMatrix<double>& a, const std::vector<Array<double>>& b,
                             const Options& o = {}, const std::vector<Array<double>>& x0 = {}) {
  const auto kernel = build_host_kernel<double>(o.kernel, a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, o.method, o.variant, o.preconditioner, BlockForm::block_cg);
  return test::solve_block(solver, b, o, x0);
}

std::int64_t iterations(const std::vector<Solved>& solved) {
  std::int64_t most = 0;
  for (const Solved& column : solved) most = std::max(most, column.outcome.iterations);
  return most;
}

TEST(BlockCg, OneColumnTakesTheIterationsOfCg) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const Array<double> b = test::random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o;
  o.preconditioner = test::jacobi(d);
  const Solved own = test::solve(a, b, o);
  const Solved solved = block_cg(a, {b}, o)[0];
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  ASSERT_NEAR(static_cast<double>(solved.history.size()), static_cast<double>(own.history.size()),
              1);
  for (std::size_t k = 0; k < 20; ++k)
    EXPECT_NEAR(solved.history[k], own.history[k], 1e-7 * own.history[k]) << "iteration " << k;
}

TEST(BlockCg, HugeRowsDoNotHideTheOthers) {
  const test::HugeRows system(20, 0, 1e8);
  std::vector<Array<double>> b = system.columns();
  b[3] = test::random_vector<double>(system.a.rows, 33);
  Options o;
  o.preconditioner = test::jacobi(system.diagonal);
  o.row_scale = {true, system.inverse_sizes, true};
  o.rule.rows = RowTest::both;
  test::expect_solved_in_every_row(system, b, block_cg(system.a, b, o));
}

TEST(BlockCg, ManyColumnsTakeFewerIterations) {
  const CsrMatrix<double> a = grid_matrix(30, 0, 10);
  const Array<double> d = test::diagonal_of(a);
  const test::BlocksOf blocks(a, 4);
  test::GaussSeidel given(a);
  const std::vector<Array<double>> b = random_columns(a.rows, 12);
  for_each_preconditioner([&](PreconditionerKind kind, auto m) {
    if (decltype(m)::type::info.nonsymmetric) return;
    SCOPED_TRACE(static_cast<int>(kind));
    Options o;
    o.preconditioner = blocks.spec;
    o.preconditioner.diagonal = d;
    o.preconditioner.kind = kind;
    o.preconditioner.given = &given;
    const std::vector<Solved> solved = block_cg(a, b, o);
    expect_solved(a, b, solved);
    EXPECT_LT(1.3 * static_cast<double>(iterations(solved)),
              static_cast<double>(iterations(test::solve_block(a, b, o))));
  });
}

// The matrix -A is solved as A is, with the signs of A and b changed: every iterate is the same.
TEST(BlockCg, ANegativeDefiniteMatrixIsSolvedAsItsNegativeIs) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  CsrMatrix<double> negative = a;
  for (double& value : negative.values) value = -value;
  const std::vector<Array<double>> b = random_columns(a.rows, 6);
  const Array<double> d = test::diagonal_of(a), negative_d = test::diagonal_of(negative);
  test::GaussSeidel given(a);  // M^-1 of -A: positive definite, as that of multigrid
  for (const bool jacobi : {true, false}) {
    Options o, of_negative;
    o.preconditioner = of_negative.preconditioner = test::jacobi(d);
    of_negative.preconditioner.diagonal = negative_d;
    if (!jacobi) {
      o.preconditioner.kind = of_negative.preconditioner.kind = PreconditionerKind::given;
      o.preconditioner.given = of_negative.preconditioner.given = &given;
    }
    const auto expect_alike = [](const Solved& one, const Solved& other, const char* what) {
      EXPECT_EQ(other.outcome.reason, Reason::rtol) << what;
      EXPECT_EQ(other.history, one.history) << what;
    };
    for (const Variant variant :
         {Variant::classic, Variant::single_reduction, Variant::pipelined}) {
      o.variant = of_negative.variant = variant;
      expect_alike(test::solve(a, b[0], o), test::solve(negative, b[0], of_negative), "one column");
    }
    o.variant = of_negative.variant = Variant::automatic;
    const auto of_a = block_cg(a, b, o), of_minus_a = block_cg(negative, b, of_negative);
    const auto lockstep = test::solve_block(a, b, o);
    const auto lockstep_of_minus_a = test::solve_block(negative, b, of_negative);
    for (std::size_t j = 0; j < b.size(); ++j) {
      expect_alike(of_a[j], of_minus_a[j], "block CG");
      expect_alike(lockstep[j], lockstep_of_minus_a[j], "lockstep");
    }
  }
}

TEST(BlockCg, AnIndefiniteMatrixIsRefused) {
  CsrMatrix<double> a = grid_matrix(20);
  for (std::int64_t row = 0; row < 150; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      if (a.col_idx[k] == row) a.values[k] = -a.values[k];
  for (const Solved& solved : block_cg(a, random_columns(a.rows, 4)))
    EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);
}

// A factor that is lost would only cost iterations.
TEST(BlockCg, TakesTheIterationsThatItTakes) {
  struct Counted {
    double contrast, rtol;
    std::int64_t iterations;
  };
  for (const auto& [contrast, rtol, expected] : {Counted{10, 1e-8, 62}, Counted{10, 1e-12, 75},
                                                 Counted{1e4, 1e-8, 78}, Counted{1e4, 1e-12, 79}}) {
    const CsrMatrix<double> a = grid_matrix(30, 0, contrast);
    const Array<double> d = test::diagonal_of(a);
    Options o;
    o.rule.rtol = rtol;
    o.preconditioner = test::jacobi(d);
    const std::vector<Solved> solved = block_cg(a, random_columns(a.rows, 8), o);
    EXPECT_NEAR(static_cast<double>(iterations(solved)), static_cast<double>(expected), 3);
  }
}

// The recurrences of columns with a huge guess claim too much, so that they begin anew.
TEST(BlockCg, AClaimThatIsTakenBackMakesNewDirections) {
  const CsrMatrix<double> a = grid_matrix(30, 0, 10);
  const Array<double> d = test::diagonal_of(a);
  const std::vector<Array<double>> b = random_columns(a.rows, 8);
  Options o;
  o.preconditioner = test::jacobi(d);
  std::vector<Array<double>> x0 = random_columns(a.rows, 8, 50);
  for (Array<double>& column : x0)
    for (double& value : column) value *= 1e12;
  const std::vector<Solved> solved = block_cg(a, b, o, x0);
  expect_solved(a, b, solved);
  for (const Solved& column : solved) EXPECT_EQ(column.outcome.replacements, 1);
  EXPECT_NEAR(static_cast<double>(iterations(solved)), 144, 10) << "174 by the old directions";
}

// The exact solution is found when the directions span the space: 60 rows, 12 columns.
TEST(BlockCg, EndsWhenTheDirectionsSpanTheSpace) {
  std::vector<std::vector<double>> dense(60, std::vector<double>(60, 0.0));
  for (std::size_t i = 0; i < 60; ++i) dense[i][i] = static_cast<double>(i + 1);
  const CsrMatrix<double> a = from_dense(dense);
  const std::vector<Array<double>> b = random_columns(a.rows, 12);
  const std::vector<Solved> solved = block_cg(a, b);
  expect_solved(a, b, solved);
  EXPECT_LE(iterations(solved), 5);
}

TEST(BlockCg, DependentColumnsAreSolved) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  std::vector<Array<double>> b = random_columns(a.rows, 7);
  b[2] = b[0];
  for (std::size_t i = 0; i < b[3].size(); ++i) b[3][i] = b[0][i] - 3 * b[1][i];
  for (std::size_t i = 0; i < b[4].size(); ++i) b[4][i] = b[1][i] * (1 + 1e-9) + 1e-12 * b[6][i];
  for (double& value : b[5]) value *= 1e-20;
  expect_solved(a, b, block_cg(a, b));
}

TEST(BlockCg, ColumnsLeaveAtTheirOwnTime) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const std::vector<Array<double>> b = random_columns(a.rows, 6);
  std::vector<Array<double>> x0;
  for (std::size_t j = 0; j < b.size(); ++j) {
    x0.push_back(test::solve(a, b[j]).x);
    for (std::size_t i = 0; i < x0[j].size(); ++i)
      x0[j][i] *= 1 + std::pow(10.0, -2.0 * static_cast<double>(j)) * (i % 3 == 0 ? 1 : -1);
  }
  x0[4] = test::solve(a, b[4]).x;
  const std::vector<Solved> solved = block_cg(a, b, {}, x0);
  expect_solved(a, b, solved);
  EXPECT_EQ(solved[4].outcome.iterations, 0);
  EXPECT_EQ(solved[4].x, x0[4]);
  EXPECT_LT(solved[3].outcome.iterations, solved[0].outcome.iterations);
}

TEST(BlockCg, ThereMayBeMoreColumnsThanRows) {
  const CsrMatrix<double> a = grid_matrix(2, 0, 10);
  const std::vector<Array<double>> b = random_columns(a.rows, 9);
  const std::vector<Solved> solved = block_cg(a, b);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-8);
  }
  EXPECT_LE(iterations(solved), 2);
}

TEST(BlockCg, AColumnThatIsZeroOrNotANumberLeavesTheOthersAlone) {
  const CsrMatrix<double> a = grid_matrix(20);
  std::vector<Array<double>> b = random_columns(a.rows, 4);
  b[1].assign(b[1].size(), 0.0);
  b[2][5] = NAN;
  const std::vector<Solved> solved = block_cg(a, b);
  expect_solved(a, {b[0]}, {solved[0]});
  expect_solved(a, {b[3]}, {solved[3]});
  EXPECT_GT(static_cast<int>(solved[1].outcome.reason), 0);
  EXPECT_EQ(solved[1].x, b[1]);
  EXPECT_EQ(solved[2].outcome.reason, Reason::not_finite);
}

TEST(BlockCg, TheBitsDoNotDependOnTheNumberOfThreads) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 10);
  const std::vector<Array<double>> b = random_columns(a.rows, 9);
  const std::vector<Solved> one = block_cg(a, b);
  omp_set_num_threads(2);
  const std::vector<Solved> two = block_cg(a, b);
  omp_set_num_threads(1);
  for (std::size_t j = 0; j < b.size(); ++j) test::expect_same_bits(one[j], two[j]);
}

TEST(BlockCg, ReportsAnIndefiniteMatrixAndANumberThatIsNone) {
  const std::vector<Array<double>> b{{1, 1, 3}, {2, 0, 1}};
  for (const Solved& solved : block_cg(from_dense({{1, 0, 0}, {0, 2, 0}, {0, 0, -1}}), b))
    EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);
  for (const Solved& solved : block_cg(from_dense({{1, 0, 0}, {0, NAN, 0}, {0, 0, 1}}), b))
    EXPECT_EQ(solved.outcome.reason, Reason::not_finite);
}

TEST(BlockCg, TheIterationLimitIsKept) {
  const CsrMatrix<double> a = grid_matrix(20);
  const std::vector<Array<double>> b = random_columns(a.rows, 4);
  Options o;
  o.rule.max_iterations = 3;
  for (const Solved& solved : block_cg(a, b, o)) {
    EXPECT_EQ(solved.outcome.reason, Reason::too_many_iterations);
    EXPECT_EQ(solved.outcome.iterations, 3);
  }
}

TEST(BlockCg, RefusesOtherMethodsAndMixedPrecision) {
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  const auto exact = build_host_kernel<double>("csr", a.view());
  const auto rounded = build_mixed_host_kernel("csr", a.view());
  const Array<float> defect = test::row_defect(a);
  HostKernelSystem full(*exact, a.rows), mixed(*rounded, a.rows, exact.get(), defect);
  const auto make = [](HostSystem& system, Method method) {
    HostBlockSolver(system, method, Variant::automatic, {}, BlockForm::block_cg);
  };
  EXPECT_NO_THROW(make(full, Method::cg));
  EXPECT_THROW(make(full, Method::minres), Error);
  EXPECT_THROW(make(mixed, Method::cg), Error);
}

TEST(SmallMatrix, ABasisIsOrthonormalAndHasTheRank) {
  constexpr std::int64_t n = 30, k = 9;
  std::vector<Array<double>> w = random_columns(n, k);
  w[4] = w[1];
  w[6].assign(n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) w[7][i] = 1e-60 * (w[0][i] + w[2][i]);
  for (double& value : w[8]) value *= 1e-60;
  SmallMatrix gram(k, k);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t row = 0; row < n; ++row) gram(i, j) += w[i][row] * w[j][row];
  const SmallMatrix t = orthonormal_basis(gram, 1e-6);
  ASSERT_EQ(t.cols(), 6);
  for (std::int64_t c = 0; c < t.cols(); ++c)
    for (std::int64_t d = 0; d < t.cols(); ++d) {
      double dot = 0;
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < k; ++j) dot += t(i, c) * gram(i, j) * t(j, d);
      EXPECT_NEAR(dot, c == d ? 1 : 0, 1e-8) << c << " " << d;
    }
}

TEST(SmallMatrix, CholeskySolvesAndRefusesAnIndefiniteMatrix) {
  SmallMatrix a(2, 2), b(2, 1);
  a(0, 0) = 4;
  a(1, 0) = a(0, 1) = 2;
  a(1, 1) = 5;
  b(0, 0) = 8;
  b(1, 0) = 12;
  const SmallMatrix x = solve_cholesky(*cholesky(a), b);
  EXPECT_DOUBLE_EQ(x(0, 0), 1);
  EXPECT_DOUBLE_EQ(x(1, 0), 2);
  a(1, 1) = 0.5;
  EXPECT_FALSE(cholesky(a));
}

}  // namespace
}  // namespace trireme::solvers
