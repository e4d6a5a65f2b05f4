// SPDX-License-Identifier: BSD-3-Clause
// The resident GMRES(m) on the host: its residuals are the smallest ones, and its ends.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/block_solves.hpp"
#include "solvers/smallest_residuals.hpp"
#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using test::from_dense;
using test::grid_matrix;
using test::Options;
using test::random_vector;
using test::relative_residual;
using test::smallest_residuals;
using test::Solved;

Options gmres(std::int32_t restart) {
  Options o;
  o.method = Method::gmres;
  o.of_method.restart = restart;
  return o;
}

// Row i has a one in column i + 1: GMRES finds nothing before it has seen all rows.
CsrMatrix<double> shift_by_one(std::int64_t n) {
  std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
  for (std::int64_t i = 0; i < n; ++i) dense[i][(i + 1) % n] = 1;
  return from_dense(dense);
}

Array<double> first_unit_vector(std::int64_t n) {
  Array<double> b(n, 0.0);
  b[0] = 1;
  return b;
}

void expect_near(const std::vector<double>& norms, std::size_t first,
                 const std::vector<double>& expected) {
  ASSERT_LE(first + expected.size(), norms.size() + 1);
  for (std::size_t k = 0; k < expected.size() && first + k < norms.size(); ++k)
    EXPECT_NEAR(norms[first + k], expected[k], 1e-9 * expected[0]) << "iteration " << first + k;
}

// A D^-1
CsrMatrix<double> with_scaled_columns(CsrMatrix<double> a) {
  const Array<double> d = test::diagonal_of(a);
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] /= d[a.col_idx[k]];
  return a;
}

TEST(ResidentGmres, HasTheSmallestResidualsOfItsSpace) {
  const CsrMatrix<double> a = grid_matrix(16, 3, 20);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options options = gmres(60);
  options.rule.max_iterations = 60;
  options.rule.rtol = 1e-12;
  expect_near(test::solve(a, b, options).history, 0, smallest_residuals(a, b, 60));
  options.preconditioner = test::jacobi(d);
  expect_near(test::solve(a, b, options).history, 0,
              smallest_residuals(with_scaled_columns(a), b, 60));
}

TEST(ResidentGmres, BeginsANewSpaceAtTheTrueResidual) {
  const CsrMatrix<double> a = grid_matrix(16, 3, 20);
  const Array<double> b = random_vector<double>(a.rows);
  for (const std::int32_t restart : {1, 2, 7, 30}) {
    SCOPED_TRACE(restart);
    Options options = gmres(restart);
    options.rule.max_iterations = 3 * restart;
    const Solved whole = test::solve(a, b, options);
    for (int cycle = 0; cycle < 3; ++cycle) {
      Options before = options;
      before.rule.max_iterations = cycle * restart;
      const Array<double> x = test::solve(a, b, before).x;
      Array<double> r = test::times(a, x);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
      expect_near(whole.history, cycle * restart, smallest_residuals(a, r, restart));
    }
    EXPECT_NEAR(whole.history.back() / whole.history[0], relative_residual(a, b, whole.x), 1e-12);
  }
}

TEST(ResidentGmres, SolvesWithAnyRestart) {
  const CsrMatrix<double> a = grid_matrix(12, 2, 10);
  const Array<double> b = random_vector<double>(a.rows);
  for (const std::int32_t restart : {1, 2, 5, 8, 9, 31, 144, 200}) {
    const Solved solved = test::solve(a, b, gmres(restart));
    EXPECT_EQ(solved.outcome.reason, Reason::rtol) << restart;
    EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8) << restart;
  }
}

TEST(ResidentGmres, RefusesACycleOfNoIteration) {
  const CsrMatrix<double> a = grid_matrix(4);
  EXPECT_THROW(test::solve(a, random_vector<double>(a.rows), gmres(0)), Error);
}

// The residual is 0 after as many steps as the matrix has eigenvalues, where the basis ends.
TEST(ResidentGmres, EndsWhereItsSpaceEnds) {
  CsrMatrix<double> a;
  a.rows = a.cols = 60;
  for (std::int32_t i = 0; i < 60; ++i) {
    a.col_idx.push_back(i);
    a.values.push_back(1 + i % 6);
    a.row_ptr.push_back(i + 1);
  }
  const Array<double> b = random_vector<double>(a.rows);
  Options options = gmres(30);
  options.rule.rtol = 1e-12;
  const Solved solved = test::solve(a, b, options);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-12);
  EXPECT_EQ(solved.outcome.iterations, 6);

  options.rule.norm = NormKind::none;  // goes on although nothing is left
  options.rule.max_iterations = 40;
  options.rule.limit_is_success = true;
  const Solved beyond = test::solve(a, b, options);
  EXPECT_LE(relative_residual(a, b, beyond.x), 1e-12);
}

TEST(ResidentGmres, SolvesWithTheIdentityAtOnce) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  const Solved solved = test::solve(a, Array<double>{1, 2, 3}, gmres(30));
  EXPECT_EQ(solved.outcome.iterations, 1);
  EXPECT_LE(relative_residual(a, Array<double>{1, 2, 3}, solved.x), 1e-15);
}

TEST(ResidentGmres, SolvesAnEmptySystem) {
  CsrMatrix<double> a;
  a.rows = a.cols = 0;
  const Solved solved = test::solve(a, {}, gmres(30));
  EXPECT_EQ(solved.outcome.iterations, 0);
  EXPECT_GT(static_cast<int>(solved.outcome.reason), 0);
}

TEST(ResidentGmres, SaysThatAWholeCycleLedNowhere) {
  const CsrMatrix<double> a = shift_by_one(40);
  const Array<double> b = first_unit_vector(40);
  const Solved stands = test::solve(a, b, gmres(30));
  EXPECT_EQ(stands.outcome.reason, Reason::breakdown);
  EXPECT_EQ(stands.outcome.iterations, 30);
  EXPECT_LE(relative_residual(a, b, stands.x), 1.0001);
  const Solved solved = test::solve(a, b, gmres(40));
  EXPECT_EQ(solved.outcome.reason, Reason::atol) << "nothing is left of the residual";
  EXPECT_EQ(solved.outcome.iterations, 40);
}

TEST(ResidentGmres, EndsOnASingularMatrixWithAFiniteAnswer) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, 0, 1}, {0, 0, 0}});
  for (const Array<double>& b : {Array<double>{1, 2, 3}, Array<double>{0, 0, 1}}) {
    const Solved none = test::solve(a, b, gmres(30));
    EXPECT_EQ(none.outcome.reason, Reason::breakdown);
    for (const double value : none.x) EXPECT_LE(std::abs(value), 10);
  }
  const Array<double> in_range{1, 0, 0};
  EXPECT_LE(relative_residual(a, in_range, test::solve(a, in_range, gmres(30)).x), 1e-15);
  const CsrMatrix<double> path = test::path_laplacian(20);
  Array<double> b = random_vector<double>(20);
  double sum = 0;
  for (const double value : b) sum += value;
  for (double& value : b) value -= sum / 20;
  EXPECT_LE(relative_residual(path, b, test::solve(path, b, gmres(30)).x), 1.0001e-8);
}

// The part of b that no x gives remains, and x does not grow beyond all bounds.
TEST(ResidentGmres, EndsNearTheLeastSquaresOfWhatHasNoSolution) {
  for (const std::int64_t n : {20, 40, 200}) {
    const CsrMatrix<double> path = test::path_laplacian(n);
    const Array<double> b = random_vector<double>(n);
    double sum = 0, square = 0;
    for (const double value : b) sum += value, square += value * value;
    const double smallest = std::abs(sum) / std::sqrt(static_cast<double>(n) * square);
    for (const std::int32_t restart : {30, 300}) {
      const Solved solved = test::solve(path, b, gmres(restart));
      EXPECT_LT(static_cast<int>(solved.outcome.reason), 0);
      EXPECT_LE(relative_residual(path, b, solved.x), 1.1 * smallest) << n << ", " << restart;
    }
  }
}

// Wherever a solve is stopped, also where rounding alone made columns of H.
TEST(ResidentGmres, NeverMakesTheResidualLarger) {
  std::vector<std::vector<double>> dense(30, std::vector<double>(30, 0.0));  // of rank 20
  const Array<double> random = random_vector<double>(30 * 20, 3);
  for (std::int64_t i = 0; i < 20; ++i)
    dense[i].assign(random.begin() + 30 * i, random.begin() + 30 * (i + 1));
  for (std::int64_t i = 20; i < 30; ++i)
    for (std::int64_t j = 0; j < 30; ++j) dense[i][j] = dense[i - 20][j] - dense[i - 10][j];
  CsrMatrix<double> nearly = test::path_laplacian(24);
  nearly.values[0] *= 1 + 1e-8;
  for (const CsrMatrix<double>& a :
       {test::path_laplacian(20), test::path_laplacian(40), nearly, from_dense(dense)})
    for (const std::int32_t restart : {3, 30, 300}) {
      const Array<double> b = random_vector<double>(a.rows);
      double last = 1;
      for (std::int64_t limit = 1; limit <= 3 * a.rows; ++limit) {
        Options options = gmres(restart);
        options.rule.max_iterations = limit;
        options.rule.rtol = 1e-15;
        const double residual = relative_residual(a, b, test::solve(a, b, options).x);
        EXPECT_LE(residual, 1.001 * last + 1e-5) << a.rows << ", " << restart << ", " << limit;
        last = residual;
      }
    }
}

// x is of the size 1 / scale, and its elements have all their digits.
TEST(ResidentGmres, DoesTheSameInEveryScale) {
  const CsrMatrix<double> a = grid_matrix(16, 3, 20);
  const Array<double> b = random_vector<double>(a.rows);
  Options options = gmres(20);
  std::vector<double> history;
  for (const double scale : {1.0, 0x1p-900, 0x1p900}) {
    CsrMatrix<double> scaled = a;
    for (double& value : scaled.values) value *= scale;
    const Array<double> d = test::diagonal_of(scaled);
    options.preconditioner = test::jacobi(d);
    const Solved solved = test::solve(scaled, b, options);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    if (scale == 1) history = solved.history;
    EXPECT_EQ(solved.history, history) << scale;
  }
}

// A basis whose vectors had become dependent would not end like this.
TEST(ResidentGmres, KeepsItsBasisOrthogonalWhereDigitsCancel) {
  const std::int64_t n = 60;
  std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
  for (std::int64_t i = 0; i < n; ++i) {
    dense[i][i] = 1 + 1e-4 * static_cast<double>(i);
    if (i > 0) dense[i][i - 1] = 1e-3;
  }
  const CsrMatrix<double> a = from_dense(dense);
  const Array<double> b = random_vector<double>(n);
  Options options = gmres(60);
  options.rule.rtol = 1e-14;
  const Solved solved = test::solve(a, b, options);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  expect_near(solved.history, 0,
              smallest_residuals(a, b, static_cast<int>(solved.outcome.iterations)));
  EXPECT_EQ(solved.outcome.replacements, 0) << "the first claim holds";
}

TEST(ResidentGmres, RemembersNothingOfAnEarlierSolve) {
  const CsrMatrix<double> a = grid_matrix(12, 2, 10);
  const Array<double> b = random_vector<double>(a.rows);
  const Array<double> poison(a.rows, NAN);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  const Options options = gmres(10);
  HostSolver solver(system, Method::gmres, Variant::classic, {}, options.of_method);
  HostBlockSolver block(system, Method::gmres, Variant::classic, {}, BlockForm::lockstep,
                        options.of_method);
  const Solved fresh = test::solve_by(solver, b, options);
  const Solved column = test::solve_block(block, {b, b}, options)[1];
  EXPECT_EQ(fresh.outcome.iterations, column.outcome.iterations);
  Array<double> huge = b;
  for (double& value : huge) value *= 1e200;
  for (const Array<double>& other : {poison, huge}) {
    static_cast<void>(test::solve_by(solver, other, options));
    static_cast<void>(test::solve_block(block, {other, other}, options));
    EXPECT_EQ(test::solve_by(solver, b, options).x, fresh.x);
    EXPECT_EQ(test::solve_block(block, {b, b}, options)[1].x, column.x);
  }
}

// What tests of every method on GPUs ask for.
TEST(ResidentGmres, SaysThatNothingBetterCanBeHad) {
  const CsrMatrix<double> a = grid_matrix(60, 2, 10);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options options = gmres(30);
  options.preconditioner = test::jacobi(d);
  options.rule.rtol = 1e-18;
  const Solved solved = test::solve(a, b, options);
  EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
  EXPECT_TRUE(solved.outcome.stagnated);
  EXPECT_LE(relative_residual(a, b, solved.x), 1e-11);
}

// Columns whose cycles have different lengths, because they are stopped at different iterations.
TEST(ResidentGmres, ColumnsOfABlockHaveCyclesOfTheirOwn) {
  const CsrMatrix<double> a = grid_matrix(20, 2, 10);
  std::vector<Array<double>> b = test::random_columns(a.rows, 7);
  Array<double> easy = Array<double>(a.rows, 1.0);
  b.push_back(test::times(a, easy));
  b.push_back(Array<double>(a.rows, 0.0));
  const std::vector<Solved> solved = test::solve_block(a, b, gmres(7));
  for (std::size_t j = 0; j + 1 < b.size(); ++j) {
    const Solved alone = test::solve(a, b[j], gmres(7));
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    EXPECT_NEAR(static_cast<double>(solved[j].outcome.iterations),
                static_cast<double>(alone.outcome.iterations), 3);
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-8);
  }
}

// The same matrix with its values in FP32 and in FP64.
class MixedGmres : public testing::Test {
 protected:
  void take(const CsrMatrix<double>& a) {
    a_ = a;
    exact_ = build_host_kernel<double>("csr", a_.view());
    rounded_ = build_mixed_host_kernel("csr", a_.view());
    defect_ = test::row_defect(a_);
    diagonal_ = test::diagonal_of(a_);
    double_.emplace(*exact_, a_.rows);
    mixed_.emplace(*rounded_, a_.rows, exact_.get(), defect_);
  }
  Options by_jacobi(std::int32_t restart, double rtol) const {
    Options options = gmres(restart);
    options.preconditioner = test::jacobi(diagonal_);
    options.rule.rtol = rtol;
    return options;
  }

  CsrMatrix<double> a_;
  std::unique_ptr<HostKernel<double>> exact_, rounded_;
  Array<float> defect_;
  Array<double> diagonal_;
  std::optional<HostKernelSystem> double_, mixed_;
};

TEST_F(MixedGmres, TakesAboutAsManyIterationsAsDouble) {
  const CsrMatrix<double> systems[] = {grid_matrix(30, 0, 1), grid_matrix(40, 0.5, 100),
                                       grid_matrix(40, 20, 3), test::irregular_matrix(900, 0.5)};
  for (const CsrMatrix<double>& a : systems)
    for (const std::int32_t restart : {20, 30}) {
      SCOPED_TRACE(fmt::format("{} rows, restart {}", a.rows, restart));
      take(a);
      const Array<double> b = random_vector<double>(a.rows);
      const Options options = by_jacobi(restart, 1e-10);
      const Solved full = test::solve(*double_, b, options);
      const Solved mixed = test::solve(*mixed_, b, options);
      EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
      EXPECT_EQ(mixed.outcome.exact_from, -1);
      EXPECT_LE(relative_residual(a, b, mixed.x), 1.0001e-10);
      EXPECT_LE(static_cast<double>(mixed.outcome.iterations),
                1.1 * static_cast<double>(full.outcome.iterations));
    }
}

// The values are numbers of FP32, so that nothing but the basis is rounded.
TEST_F(MixedGmres, RoundsItsBasisAndNotTheAnswer) {
  take(grid_matrix(24));
  const Array<double> b = random_vector<double>(a_.rows);
  const Options options = by_jacobi(400, 1e-13);
  EXPECT_EQ(test::solve(*double_, b, options).outcome.replacements, 0) << "one cycle";
  const Solved mixed = test::solve(*mixed_, b, options);
  EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
  EXPECT_GE(mixed.outcome.replacements, 1);
  EXPECT_EQ(mixed.outcome.exact_from, -1);
  EXPECT_LE(relative_residual(a_, b, mixed.x), 1.0001e-13);
  HostBlockSolver of_double(*double_, Method::gmres, Variant::classic, options.preconditioner,
                            BlockForm::lockstep, options.of_method),
      of_mixed(*mixed_, Method::gmres, Variant::classic, options.preconditioner,
               BlockForm::lockstep, options.of_method);
  EXPECT_EQ(of_double.bytes(5) - of_mixed.bytes(5), (5 + 1) * 200 * 8 * a_.rows)
      << "of five columns and of the solver for one";
}

// Blocks [1 1-1e-9; 1-1e-9 1], which are singular in FP32: columns that need both eigenvectors of a
// block go on in FP64, in one cycle that has all of its vectors.
TEST_F(MixedGmres, GoesOnInFp64WhereRoundingTakesWhatACycleGains) {
  take(test::pairs_that_fp32_merges());
  std::vector<Array<double>> b = test::random_columns(a_.rows, 6);
  for (const std::size_t j : {1, 4}) b[j].assign(b[j].size(), 1.0);
  Options options = gmres(30);
  options.rule.rtol = 1e-6;
  const std::vector<Solved> columns = test::solve_block(*mixed_, b, options);
  HostSolver solver(*mixed_, Method::gmres, Variant::classic, {}, options.of_method);
  for (std::size_t j = 0; j < b.size(); ++j) {
    const Solved alone = test::solve_by(solver, b[j], options);
    for (const Solved* solved : {&alone, &columns[j]}) {
      SCOPED_TRACE(j);
      EXPECT_GT(static_cast<int>(solved->outcome.reason), 0);
      EXPECT_EQ(solved->outcome.exact_from >= 0, j != 1 && j != 4);
      EXPECT_LE(relative_residual(a_, b[j], solved->x), 1.01e-6);
    }
  }
}

// Rows and columns of many sizes: the condition leaves a cycle in FP32 nothing, or little.
TEST_F(MixedGmres, GoesOnInFp64BeforeItHasWastedMuch) {
  for (const auto& [decades, restart] : {std::pair(6, 20), {8, 40}, {10, 20}, {10, 80}}) {
    SCOPED_TRACE(fmt::format("1e{}, restart {}", decades, restart));
    const auto scale = [decades = decades](std::int64_t row) {
      return std::pow(10.0, (static_cast<double>(row * 7 % 19) / 9 - 1) * decades) / 3;
    };
    CsrMatrix<double> a = grid_matrix(16, 3, 20);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        a.values[k] *= scale(i) * scale(a.col_idx[k]);
    take(a);
    const Array<double> b = test::times(a, random_vector<double>(a.rows));
    const Options options = by_jacobi(restart, 1e-10);
    const Solved full = test::solve(*double_, b, options), mixed = test::solve(*mixed_, b, options);
    ASSERT_EQ(full.outcome.reason, Reason::rtol);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_GE(mixed.outcome.exact_from, 0);
    EXPECT_LE(mixed.outcome.exact_from, 1.5 * full.outcome.iterations);
    EXPECT_LE(relative_residual(a, b, mixed.x), 1.0001e-10);
  }
}

}  // namespace
}  // namespace trireme::solvers
