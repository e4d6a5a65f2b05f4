// SPDX-License-Identifier: BSD-3-Clause
// The promises of the block solver for every method of the list with every preconditioner of the
// list. A method or a preconditioner that joins its list is tested here without further code.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "solvers/block_solves.hpp"
#include "solvers/gauss_seidel.hpp"
#include "solvers/ways.hpp"

namespace trireme::solvers {
namespace {

using test::Options;
using test::relative_residual;
using test::Solved;

class BlockContract : public testing::TestWithParam<test::Way> {
 protected:
  BlockContract() { take(test::grid_matrix(20, symmetric() ? 0 : 2, 10)); }

  bool symmetric() const { return info_of(GetParam().method).symmetric; }
  void take(CsrMatrix<double> a) {
    a_ = std::move(a);
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

  // The columns as HostSolver solves each of them alone.
  Solved alone(const Array<double>& b, const Array<double>& x0 = {}) {
    Options options = options_;
    options.x0 = x0;
    return test::solve(a_, b, options);
  }

  // The iterations do the same, except for rounding.
  void expect_agreement(const Solved& column, const Solved& own) {
    EXPECT_EQ(column.outcome.reason, own.outcome.reason);
    EXPECT_NEAR(static_cast<double>(column.outcome.iterations),
                static_cast<double>(own.outcome.iterations),
                1 + 0.1 * static_cast<double>(own.outcome.iterations));
    ASSERT_EQ(std::ssize(column.history), column.outcome.iterations + 1);
    for (std::size_t k = 0; k < std::min<std::size_t>(5, own.history.size()); ++k)
      EXPECT_NEAR(column.history[k], own.history[k], 1e-9 * own.history[k]) << "iteration " << k;
  }

  CsrMatrix<double> a_;
  Array<double> diagonal_;
  std::unique_ptr<test::BlocksOf> blocks_;
  std::unique_ptr<test::GaussSeidel> given_;
  Options options_;
};
INSTANTIATE_TEST_SUITE_P(Lists, BlockContract, testing::ValuesIn(test::ways()),
                         [](const auto& way) { return way.param.name; });

TEST_P(BlockContract, HugeRowsDoNotHideTheOthers) {
  const test::HugeRows system(20, symmetric() ? 0 : 2,
                              GetParam().kind == PreconditionerKind::none ? 1e5 : 1e12);
  take(system.a);
  options_.row_scale = {true, system.inverse_sizes, GetParam().kind == PreconditionerKind::jacobi};
  options_.rule.rows = RowTest::both;
  const std::vector<Array<double>> b = system.columns();
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  test::expect_solved_in_every_row(system, b, solved);
  for (std::size_t j = 0; j < b.size(); ++j) expect_agreement(solved[j], alone(b[j]));
}

TEST_P(BlockContract, EachColumnIsSolvedAsItIsAlone) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 13);
  for (double& value : b[3]) value *= 1e-30;
  b[5] = b[4];
  b[6].assign(b[6].size(), 1.0);
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    const Solved own = alone(b[j]);
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    expect_agreement(solved[j], own);
    EXPECT_EQ(solved[j].outcome.variant, own.outcome.variant);
    const double residual = relative_residual(a_, b[j], solved[j].x);
    EXPECT_LE(residual, 1.0001e-8);
    EXPECT_NEAR(solved[j].outcome.norm / test::norm(b[j]), residual, 1e-12) << "is confirmed";
  }
}

TEST_P(BlockContract, EachColumnHasAGuess) {
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 4);
  std::vector<Array<double>> x0 = test::random_columns(a_.rows, 4, 50);
  x0[1] = alone(b[1]).x;
  x0[2].assign(x0[2].size(), 0.0);
  const std::vector<Solved> solved = test::solve_block(a_, b, options_, x0);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    expect_agreement(solved[j], alone(b[j], x0[j]));
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-8);
  }
  EXPECT_EQ(solved[1].outcome.iterations, 0);
  EXPECT_EQ(solved[1].x, x0[1]);
}

// Columns that end in many ways and at very different iterations: zero, almost solved, equal,
// dependent, tiny, not a number, infinite.
TEST_P(BlockContract, AColumnHasTheSameBitsWhateverIsBesideIt) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 19);
  std::vector<Array<double>> x0(b.size(), Array<double>(a_.rows, 0.0));
  b[1].assign(b[1].size(), 0.0);
  b[4][7] = NAN;
  b[5] = b[3];
  for (std::size_t i = 0; i < b[6].size(); ++i) b[6][i] = b[2][i] - 2 * b[3][i];
  for (double& value : b[7]) value *= 1e-200;
  b[9][0] = INFINITY;
  for (std::size_t j = 10; j < 15; ++j) {  // one digit of the answer is given, or several
    x0[j] = alone(b[j]).x;
    for (std::size_t i = 0; i < x0[j].size(); ++i)
      x0[j][i] *= 1 + std::pow(10.0, -static_cast<double>(j - 9)) * (i % 3 == 0 ? 1 : -1);
  }
  const std::vector<Solved> solved = test::solve_block(a_, b, options_, x0);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    test::expect_same_bits(solved[j], test::solve_block(a_, {b[j]}, options_, {x0[j]})[0]);
    if (j > 0 && j % 3 == 0)  // the same column at another place of a narrower block
      test::expect_same_bits(solved[j], test::solve_block(a_, {b[0], b[j - 1], b[j]}, options_,
                                                          {x0[0], x0[j - 1], x0[j]})[2]);
  }
}

TEST_P(BlockContract, TheBitsDoNotDependOnTheNumberOfThreads) {
  take(test::grid_matrix(50, symmetric() ? 0 : 2, 10));
  options_.rule.max_iterations = 40;  // more than GMRES takes between two restarts
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 9);
  const std::vector<Solved> one = test::solve_block(a_, b, options_);
  omp_set_num_threads(2);
  const std::vector<Solved> two = test::solve_block(a_, b, options_);
  omp_set_num_threads(1);
  for (std::size_t j = 0; j < b.size(); ++j) test::expect_same_bits(one[j], two[j]);
}

TEST_P(BlockContract, AValueThatIsNotANumberEndsOnlyItsColumn) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 3);
  b[1][a_.rows / 2] = NAN;
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  EXPECT_EQ(solved[0].outcome.reason, Reason::rtol);
  EXPECT_EQ(solved[1].outcome.reason, Reason::not_finite);
  EXPECT_LE(solved[1].outcome.iterations, 1);
  EXPECT_EQ(solved[2].outcome.reason, Reason::rtol);
}

TEST_P(BlockContract, ARightHandSideOfZeroHasTheSolutionZero) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 2);
  b[0].assign(b[0].size(), 0.0);
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  EXPECT_GT(static_cast<int>(solved[0].outcome.reason), 0);
  EXPECT_EQ(solved[0].outcome.iterations, 0);
  EXPECT_EQ(solved[0].x, b[0]);
  EXPECT_EQ(solved[1].outcome.reason, Reason::rtol);
}

TEST_P(BlockContract, ThereMayBeMoreColumnsThanRows) {
  take(test::grid_matrix(2, symmetric() ? 0 : 0.5, 10));
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 11);
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-8);
  }
}

TEST_P(BlockContract, TheIterationLimitIsKept) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 5);
  options_.rule.max_iterations = 3;
  const std::vector<Solved> solved = test::solve_block(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, Reason::too_many_iterations);
    EXPECT_EQ(solved[j].outcome.iterations, 3);
    EXPECT_LT(relative_residual(a_, b[j], solved[j].x), 2) << "x is the iterate so far";
  }
}

TEST_P(BlockContract, MixedPrecisionMeetsTheTolerance) {
  for (double& value : a_.values) value /= 3;
  const Array<float> defect = test::row_defect(a_);
  const auto exact = build_host_kernel<double>("csr", a_.view());
  const auto rounded = build_mixed_host_kernel("csr", a_.view());
  HostKernelSystem system(*rounded, a_.rows, exact.get(), defect);
  options_.rule.rtol = 1e-11;
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 9);
  const std::vector<Solved> solved = test::solve_block(system, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    expect_agreement(solved[j], test::solve(system, b[j], options_));
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-11);
    const int least = options_.method == Method::minres ? 1 : 2;  // MINRES: at a claim only
    EXPECT_GE(solved[j].outcome.replacements, least) << "residuals by the exact product";
    test::expect_same_bits(solved[j], test::solve_block(system, {b[j]}, options_)[0]);
  }
}

}  // namespace
}  // namespace trireme::solvers
