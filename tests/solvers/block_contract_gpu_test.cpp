// SPDX-License-Identifier: BSD-3-Clause
// The promises of the block solver on a GPU for every method of the list with every preconditioner
// of the list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "solvers/block_solves.hpp"
#include "solvers/gpu_block_solves.hpp"
#include "solvers/ways.hpp"

namespace trireme::solvers {
namespace {

using test::relative_residual;
using test::Solved;

class BlockContractGpu : public testing::TestWithParam<test::Way> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    take(test::grid_matrix(20, symmetric() ? 0 : 2, 10));
  }

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
  }

  // The columns as HostSolver solves each of them alone.
  Solved alone(const Array<double>& b, const Array<double>& x0 = {}) {
    test::Options options = options_;
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
      EXPECT_NEAR(column.history[k], own.history[k], 1e-9 * own.history[k] + 1e-14)
          << "iteration " << k;
  }

  CsrMatrix<double> a_;
  Array<double> diagonal_;
  std::unique_ptr<test::BlocksOf> blocks_;
  test::GpuOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Lists, BlockContractGpu, testing::ValuesIn(test::ways(test::Place::gpu)),
                         [](const auto& way) { return way.param.name; });

TEST_P(BlockContractGpu, HugeRowsDoNotHideTheOthers) {
  const test::HugeRows system(20, symmetric() ? 0 : 2,
                              GetParam().kind == PreconditionerKind::none ? 1e5 : 1e12);
  take(system.a);
  options_.row_scale = {true, system.inverse_sizes, GetParam().kind == PreconditionerKind::jacobi};
  options_.rule.rows = RowTest::both;
  const std::vector<Array<double>> b = system.columns();
  const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_);
  test::expect_solved_in_every_row(system, b, solved);
}

TEST_P(BlockContractGpu, EachColumnIsSolvedAsItIsAlone) {
  std::vector<Array<double>> b = test::random_columns(a_.rows, 13);
  for (double& value : b[3]) value *= 1e-30;
  b[5] = b[4];
  b[6].assign(b[6].size(), 1.0);
  for (const char* kernel : {"spmm-row-warp", "csr-vector"}) {  // with and without such a product
    SCOPED_TRACE(kernel);
    options_.gpu_kernel = kernel;
    const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_);
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
}

TEST_P(BlockContractGpu, EachColumnHasAGuess) {
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 4);
  std::vector<Array<double>> x0 = test::random_columns(a_.rows, 4, 50);
  x0[1] = alone(b[1]).x;
  x0[2].assign(x0[2].size(), 0.0);
  options_.rule.rtol = 1.001e-8;  // column 1 has reached 1e-8 on the host
  const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_, x0);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    expect_agreement(solved[j], alone(b[j], x0[j]));
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0011e-8);
  }
  EXPECT_EQ(solved[1].outcome.iterations, 0);
  EXPECT_EQ(solved[1].x, x0[1]);
}

// Columns that end in many ways and at very different iterations: zero, almost solved, equal,
// dependent, tiny, not a number, infinite.
TEST_P(BlockContractGpu, AColumnIsSolvedWhateverIsBesideIt) {
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
  const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_, x0);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    if (j == 4 || j == 9) {
      EXPECT_EQ(solved[j].outcome.reason, Reason::not_finite);
      EXPECT_LE(solved[j].outcome.iterations, 1);
      continue;
    }
    if (j == 7) continue;  // its squares vanish
    const Solved own = alone(b[j], x0[j]);
    EXPECT_EQ(solved[j].outcome.reason, own.outcome.reason);
    if (j == 1) {
      EXPECT_EQ(solved[j].x, b[1]);
    } else {
      EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-8);
    }
  }
}

TEST_P(BlockContractGpu, SumsOverProcessesInBatchesAndLaunches) {
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 9);
  options_.gpu_kernel = "spmm-row-warp";
  const std::vector<Solved> alone = test::solve_block_on_gpu(a_, b, options_);
  const Stream stream;
  const auto on_device = to_device(a_.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options_.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  test::SeveralProcesses system(*kernel, on_device.view());
  for (const Recording how : {Recording::replay, Recording::none}) {
    system.how = how;
    const std::vector<Solved> several = test::solve_block_on_gpu(system, b, options_);
    for (std::size_t j = 0; j < b.size(); ++j) test::expect_same_bits(several[j], alone[j]);
  }
}

TEST_P(BlockContractGpu, ThereMayBeMoreColumnsThanRows) {
  take(test::grid_matrix(2, symmetric() ? 0 : 0.5, 10));
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 11);
  const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-8);
  }
}

TEST_P(BlockContractGpu, TheIterationLimitIsKept) {
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 5);
  options_.rule.max_iterations = 3;
  const std::vector<Solved> solved = test::solve_block_on_gpu(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, Reason::too_many_iterations);
    EXPECT_EQ(solved[j].outcome.iterations, 3);
    EXPECT_LT(relative_residual(a_, b[j], solved[j].x), 2) << "x is the iterate so far";
  }
}

TEST_P(BlockContractGpu, MixedPrecisionMeetsTheTolerance) {
  for (double& value : a_.values) value /= 3;
  options_.rule.rtol = 1e-11;
  const std::vector<Array<double>> b = test::random_columns(a_.rows, 9);
  const std::vector<Solved> solved = test::solve_block_mixed_on_gpu(a_, b, options_);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a_, b[j], solved[j].x), 1.0001e-11);
    const int least = options_.method == Method::minres ? 1 : 2;  // MINRES: at a claim only
    EXPECT_GE(solved[j].outcome.replacements, least) << "residuals by the exact product";
  }
}

}  // namespace
}  // namespace trireme::solvers
