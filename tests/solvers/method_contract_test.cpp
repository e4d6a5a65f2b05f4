// SPDX-License-Identifier: BSD-3-Clause
// The promises of every method of the list with every preconditioner of the list, on the host. A
// method or a preconditioner that joins its list is tested here without further code.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdint>
#include <memory>

#include "solvers/gauss_seidel.hpp"
#include "solvers/pieces.hpp"
#include "solvers/ways.hpp"

namespace trireme::solvers {
namespace {

using test::Options;
using test::relative_residual;
using test::Solved;

class MethodContract : public testing::TestWithParam<test::Way> {
 protected:
  MethodContract() { take(test::grid_matrix(24, symmetric() ? 0 : 2, 10)); }

  bool symmetric() const { return info_of(GetParam().method).symmetric; }
  void take(CsrMatrix<double> a) {
    a_ = std::move(a);
    b_ = test::random_vector<double>(a_.rows);
    diagonal_ = test::diagonal_of(a_);
    blocks_ = std::make_unique<test::BlocksOf>(a_, 4);
    options_.method = GetParam().method;
    options_.variant = GetParam().variant;
    options_.preconditioner = blocks_->spec;
    options_.preconditioner.diagonal = diagonal_;
    options_.preconditioner.kind = GetParam().kind;
    given_ = std::make_unique<test::GaussSeidel>(a_);
    options_.preconditioner.given = given_.get();
  }
  Solved solve() { return test::solve(a_, b_, options_); }
  // Solves in mixed precision, with values that all lose digits in FP32.
  Solved solve_mixed() {
    for (double& value : a_.values) value /= 3;
    given_->renew();
    const Array<float> defect = test::row_defect(a_);
    const auto exact = build_host_kernel<double>("csr", a_.view());
    const auto rounded = build_mixed_host_kernel("csr", a_.view());
    HostKernelSystem system(*rounded, a_.rows, exact.get(), defect);
    return test::solve(system, b_, options_);
  }

  CsrMatrix<double> a_;
  Array<double> b_, diagonal_;
  std::unique_ptr<test::BlocksOf> blocks_;
  std::unique_ptr<test::GaussSeidel> given_;
  Options options_;
};
INSTANTIATE_TEST_SUITE_P(Lists, MethodContract, testing::ValuesIn(test::ways_of_one()),
                         [](const auto& way) { return way.param.name; });

TEST_P(MethodContract, TheAnswerMeetsTheTolerance) {
  for (const double rtol : {1e-4, 1e-8, 1e-12}) {
    options_.rule.rtol = rtol;
    const Solved solved = solve();
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a_, b_, solved.x), 1.0001 * rtol);
    EXPECT_EQ(solved.history.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
  }
}

TEST_P(MethodContract, AGuessIsUsed) {
  const Solved from_zero = solve();
  options_.x0 = from_zero.x;
  const Solved from_answer = solve();
  EXPECT_EQ(from_answer.outcome.iterations, 0);
  EXPECT_EQ(from_answer.x, from_zero.x);
  options_.x0 = test::random_vector<double>(a_.rows, 3);
  const Solved from_noise = solve();
  EXPECT_LE(relative_residual(a_, b_, from_noise.x), 1.0001e-8);
}

TEST_P(MethodContract, AGuessMayBeFarWorseThanZero) {
  options_.x0 = test::random_vector<double>(a_.rows, 3);
  for (double& value : options_.x0) value *= 1e6;
  const Solved solved = solve();
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a_, b_, solved.x), 1.0001e-8);
}

TEST_P(MethodContract, AGuessThatIsWorseThanZeroIsLeftOutWhereTheRuleSaysSo) {
  const Solved from_zero = solve();
  options_.x0 = test::random_vector<double>(a_.rows, 3);
  for (double& value : options_.x0) value *= 1e6;
  const double residual = relative_residual(a_, b_, options_.x0);
  options_.rule.drops_worse_guess = true;
  const Solved dropped = solve();
  EXPECT_EQ(dropped.outcome.reason, Reason::rtol);
  EXPECT_EQ(dropped.x, from_zero.x);
  EXPECT_EQ(dropped.history, from_zero.history);
  EXPECT_NEAR(dropped.outcome.dropped_norm / from_zero.history[0], residual, 1e-6 * residual);
  options_.rule.relative_to_initial_residual = true;
  EXPECT_LT(solve().outcome.dropped_norm, 0) << "rtol is relative to the residual of this guess";
  options_.rule.relative_to_initial_residual = false;
  options_.x0 = from_zero.x;
  for (double& value : options_.x0) value *= 1.01;
  const Solved used = solve();
  EXPECT_LT(used.outcome.dropped_norm, 0);
  EXPECT_LT(used.history[0], 0.1 * from_zero.history[0]);
}

TEST_P(MethodContract, TheBitsDoNotDependOnTheNumberOfThreads) {
  take(test::grid_matrix(80, symmetric() ? 0 : 2, 10));
  options_.rule.max_iterations = 70;  // more than GMRES takes between two restarts
  const Solved one = solve();
  omp_set_num_threads(2);
  const Solved two = solve();
  omp_set_num_threads(1);
  EXPECT_EQ(one.x, two.x);
  EXPECT_EQ(one.history, two.history);
}

TEST_P(MethodContract, ARightHandSideOfZeroHasTheSolutionZero) {
  b_.assign(b_.size(), 0.0);
  const Solved solved = solve();
  EXPECT_GT(static_cast<int>(solved.outcome.reason), 0);
  EXPECT_EQ(solved.outcome.iterations, 0);
  EXPECT_EQ(solved.x, b_);
}

TEST_P(MethodContract, OneRowTakesOneIteration) {
  take(test::from_dense({{4}}));
  if (GetParam().kind == PreconditionerKind::chebyshev) GTEST_SKIP() << "no spectrum to bound";
  const Solved solved = solve();
  EXPECT_GT(static_cast<int>(solved.outcome.reason), 0);
  EXPECT_EQ(solved.outcome.iterations, 1);
  EXPECT_NEAR(solved.x[0], b_[0] / 4, 1e-16);
}

TEST_P(MethodContract, TheIterationLimitIsKept) {
  options_.rule.max_iterations = 3;
  const Solved solved = solve();
  EXPECT_EQ(solved.outcome.reason, Reason::too_many_iterations);
  EXPECT_EQ(solved.outcome.iterations, 3);
  EXPECT_LT(relative_residual(a_, b_, solved.x), 2) << "x is the iterate so far";
}

TEST_P(MethodContract, AStoppedSolveGoesOnToTheSameAnswer) {
  const Solved whole = solve();
  const auto kernel = build_host_kernel<double>("csr", a_.view());
  HostKernelSystem system(*kernel, a_.rows);
  const auto make = [&] {
    return std::make_unique<HostSolver>(system, options_.method, options_.variant,
                                        options_.preconditioner);
  };
  const std::int64_t piece = whole.outcome.iterations / 2 + 1;
  options_.rule.max_iterations = 10 * whole.outcome.iterations;
  for (const test::StoppedBy by : {test::StoppedBy::limit, test::StoppedBy::observer}) {
    const test::SolvedInPieces solved = test::solve_in_pieces(make, b_, options_, piece, by);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_GE(solved.pieces, 2);
    EXPECT_LE(relative_residual(a_, b_, solved.x), 1.0001e-8);
  }
}

TEST_P(MethodContract, MixedPrecisionMeetsTheTolerance) {
  options_.rule.rtol = 1e-11;
  const Solved solved = solve_mixed();
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(relative_residual(a_, b_, solved.x), 1.0001e-11);
  // Of complete cycles only, and of MINRES at a claim only.
  const Method method = GetParam().method;
  const int least = info_of(method).restarts || method == Method::minres ? 1 : 2;
  EXPECT_GE(solved.outcome.replacements, least) << "residuals by the exact product";
}

// Beside the sizes, `of_jacobi` says that one array serves as D^-1 and as R.
TEST_P(MethodContract, HugeRowsDoNotHideTheOthers) {
  std::vector<double> sizes = {1e5};
  if (GetParam().kind != PreconditionerKind::none) sizes.push_back(1e12);
  // The recurrences of pipelined CG carry the rounding of huge rows from vector to vector, and
  // BiCGStab(2) minimises over two vectors that huge rows make one.
  if (sizes.size() > 1 && GetParam().variant != Variant::pipelined &&
      GetParam().method != Method::bicgstab2)
    sizes.push_back(1e30);
  for (const double size : sizes)
    for (const bool of_jacobi : {false, true}) {
      if (of_jacobi && GetParam().kind != PreconditionerKind::jacobi) continue;
      SCOPED_TRACE(size);
      const test::HugeRows system(20, symmetric() ? 0 : 2, size);
      take(system.a);
      b_ = system.b;
      options_.row_scale = {};
      EXPECT_GT(system.relative_row_residual(solve().x), 1e-7) << "the test shows nothing";
      options_.row_scale = {true, system.inverse_sizes, of_jacobi};
      for (const RowTest rows : {RowTest::both, RowTest::only}) {
        options_.rule.rows = rows;
        const Solved solved = solve();
        EXPECT_EQ(solved.outcome.reason, Reason::rtol);
        EXPECT_LE(system.relative_row_residual(solved.x), 1.0001e-8);
        if (rows == RowTest::both) {
          EXPECT_LE(relative_residual(a_, b_, solved.x), 1.0001e-8);
        }
      }
      options_.rule.rows = RowTest::both;
      options_.x0 = test::random_vector<double>(a_.rows, 3);
      EXPECT_LE(system.relative_row_residual(solve().x), 1.0001e-8) << "from a guess";
      options_.x0 = {};
    }
}

TEST_P(MethodContract, HugeRowsDoNotHideTheOthersInMixedPrecision) {
  test::HugeRows system(20, symmetric() ? 0 : 2, 1e5);
  for (double& value : system.a.values) value /= 3;  // as solve_mixed() does
  for (double& value : system.inverse_sizes) value *= 3;
  take(test::HugeRows(20, symmetric() ? 0 : 2, 1e5).a);
  b_ = system.b;
  options_.row_scale = {true, system.inverse_sizes, false};
  options_.rule.rows = RowTest::both;
  const Solved solved = solve_mixed();
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(system.relative_row_residual(solved.x), 1.0001e-8);
}

TEST_P(MethodContract, AStoppedSolveWithHugeRowsGoesOnToTheSameAnswer) {
  const test::HugeRows system(20, symmetric() ? 0 : 2, 1e5);
  take(system.a);
  b_ = system.b;
  options_.row_scale = {true, system.inverse_sizes, false};
  options_.rule.rows = RowTest::both;
  const Solved whole = solve();
  const auto kernel = build_host_kernel<double>("csr", a_.view());
  HostKernelSystem on_host(*kernel, a_.rows);
  const auto make = [&] {
    auto solver = std::make_unique<HostSolver>(on_host, options_.method, options_.variant,
                                               options_.preconditioner);
    solver->weigh_rows(options_.row_scale);
    return solver;
  };
  options_.rule.max_iterations = 10 * whole.outcome.iterations;
  const test::SolvedInPieces solved = test::solve_in_pieces(
      make, b_, options_, whole.outcome.iterations / 2 + 1, test::StoppedBy::limit);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(system.relative_row_residual(solved.x), 1.0001e-8);
}

TEST_P(MethodContract, AValueThatIsNotANumberEndsTheSolve) {
  if (info_of(GetParam().kind).symmetric) GTEST_SKIP() << "the set-up refuses it";
  a_.values[a_.values.size() / 2] = NAN;
  const Solved solved = solve();
  EXPECT_LT(static_cast<int>(solved.outcome.reason), 0);
  EXPECT_LE(solved.outcome.iterations, 2);
}

}  // namespace
}  // namespace trireme::solvers
