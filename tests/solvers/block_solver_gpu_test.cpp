// SPDX-License-Identifier: BSD-3-Clause
// The block solver on a GPU: widths, kernels, row orders, layouts, what observers see, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/permuted_kernel.hpp"
#include "solvers/gpu_block_solves.hpp"
#include "solvers/permuted_system.hpp"

namespace trireme::solvers {
namespace {

using test::expect_solved;
using test::from_dense;
using test::grid_matrix;
using test::random_columns;
using test::relative_residual;
using test::Solved;

class BlockGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    options.gpu_kernel = "spmm-row-warp";
  }
  test::GpuOptions options;
};

TEST_F(BlockGpu, SolvesForAnyNumberOfColumns) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 10);
  const Array<double> d = test::diagonal_of(a);
  options.preconditioner = test::jacobi(d);
  for (const std::int64_t width : {1, 2, 3, 5, 8, 13, 31, 32, 33, 63, 64, 65, 150}) {
    SCOPED_TRACE(width);
    const std::vector<Array<double>> b = random_columns(a.rows, width);
    const std::vector<Solved> solved = test::solve_block_on_gpu(a, b, options);
    expect_solved(a, b, solved);
    for (const Solved& column : solved)
      EXPECT_EQ(std::ssize(column.history), column.outcome.iterations + 1);
  }
}

TEST_F(BlockGpu, SolvesWithEveryKernel) {
  const CsrMatrix<double> a = grid_matrix(25, 0, 10);
  const Array<double> d = test::diagonal_of(a);
  const std::vector<Array<double>> b = random_columns(a.rows, 11);
  options.preconditioner = test::jacobi(d);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_double || !entry.deterministic) continue;
    SCOPED_TRACE(std::string(entry.name));
    options.gpu_kernel = entry.name;
    expect_solved(a, b, test::solve_block_on_gpu(a, b, options));
  }
}

// More rows than one round of the grid takes.
TEST_F(BlockGpu, SolvesLargeSystems) {
  const CsrMatrix<double> a = grid_matrix(300);
  const std::vector<Array<double>> b = random_columns(a.rows, 17);
  options.rule.rtol = 1e-4;
  const std::vector<Solved> solved = test::solve_block_on_gpu(a, b, options);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-4);
  }
}

// diag(1, ..., 40): a right-hand side of m unit vectors takes m iterations.
TEST_F(BlockGpu, EachColumnTakesItsOwnNumberOfIterations) {
  std::vector<std::vector<double>> dense(40, std::vector<double>(40, 0.0));
  for (std::size_t i = 0; i < 40; ++i) dense[i][i] = static_cast<double>(i + 1);
  const CsrMatrix<double> a = from_dense(dense);
  std::vector<Array<double>> b(12, Array<double>(40, 0.0));
  for (std::size_t j = 0; j < b.size(); ++j)
    for (std::size_t m = 0; m < j * 7 % 12 + 1; ++m) b[j][3 * m] = 1;
  options.rule.rtol = 1e-12;
  for (const Method method : {Method::cg, Method::minres}) {
    options.method = method;
    const std::vector<Solved> solved = test::solve_block_on_gpu(a, b, options);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(solved[j].outcome.iterations, static_cast<std::int64_t>(j * 7 % 12 + 1));
      EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-12);
    }
  }
}

TEST_F(BlockGpu, OneColumnMayBeTheOnlyOneThatTheMatrixIsIndefiniteFor) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, 2, 0}, {0, 0, -1}});
  const std::vector<Array<double>> b{{1, 1, 0}, {1, 1, 3}, {0, 1, 0}, {1, 2, 0}};
  const std::vector<Solved> solved = test::solve_block_on_gpu(a, b, options);
  for (const std::size_t j : {0, 2, 3}) EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
  EXPECT_EQ(solved[1].outcome.reason, Reason::indefinite_matrix);
  EXPECT_EQ(solved[1].x, test::solve(a, b[1]).x) << "the rest of the iteration counts for nothing";
  EXPECT_EQ(solved[2].x, (Array<double>{0, 0.5, 0}));
}

TEST_F(BlockGpu, BreakdownOfOneColumnLeavesTheOthersAlone) {
  // r0.A r0 is 0 for b = (1, 1, 0), not for the others.
  const CsrMatrix<double> a = from_dense({{0, 1, 0}, {-1, 0, 0}, {0, 0, 2}});
  options.method = Method::bicgstab;
  const std::vector<Solved> solved =
      test::solve_block_on_gpu(a, {{0, 0, 2}, {1, 1, 0}, {0, 0, 4}}, options);
  EXPECT_GT(static_cast<int>(solved[0].outcome.reason), 0);
  EXPECT_EQ(solved[1].outcome.reason, Reason::breakdown);
  EXPECT_GT(static_cast<int>(solved[2].outcome.reason), 0);
  EXPECT_EQ(solved[0].x, (Array<double>{0, 0, 1}));
  EXPECT_EQ(solved[2].x, (Array<double>{0, 0, 2}));
}

TEST_F(BlockGpu, ColumnsThatCannotReachTheToleranceStagnateAlone) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const std::vector<Array<double>> b = random_columns(a.rows, 6);
  options.rule.rtol = 1e-18;
  for (const Solved& column : test::solve_block_on_gpu(a, b, options)) {
    EXPECT_EQ(column.outcome.reason, Reason::breakdown);
    EXPECT_TRUE(column.outcome.stagnated);
  }
}

TEST_F(BlockGpu, ColumnsForWhichFp32IsTooCoarseGoOnInFp64) {
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  std::vector<Array<double>> b = random_columns(a.rows, 6);
  for (const std::size_t j : {1, 4}) b[j].assign(b[j].size(), 1.0);  // 1 / (2 - 1e-9) of it
  options.rule.rtol = 1e-6;
  const std::vector<Solved> solved = test::solve_block_mixed_on_gpu(a, b, options);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-6);
    EXPECT_EQ(solved[j].outcome.exact_from >= 0, j != 1 && j != 4);
    EXPECT_EQ(std::ssize(solved[j].history), solved[j].outcome.iterations + 1);
  }
}

TEST_F(BlockGpu, TheRowOrderOfAKernelIsHidden) {
  const CsrMatrix<double> a = test::irregular_matrix(4000);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>("dasp", on_device.view(), stream);
  auto order = kernel->row_order(stream);
  const auto own =
      std::make_shared<PermutedKernel>(*kernel, on_device.view(), std::move(order), stream);
  stream.synchronize();
  PermutedSystem system(own);
  const Array<double> d = test::diagonal_of(a);
  options.preconditioner = test::jacobi(d);
  const std::vector<Array<double>> b = random_columns(a.rows, 6);
  expect_solved(a, b, test::solve_block_on_gpu(system, b, options));
  const std::vector<Array<double>> x0 = random_columns(a.rows, 6, 77);
  expect_solved(a, b, test::solve_block_on_gpu(system, b, options, x0));
}

// Vectors of any layout, with numbers between them that must stay as they are.
TEST_F(BlockGpu, VectorsMayHaveAnyLayout) {
  const CsrMatrix<double> a = grid_matrix(12);
  const std::vector<Array<double>> b = random_columns(a.rows, 5);
  const std::vector<Solved> expected = test::solve_block_on_gpu(a, b, options);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, on_device.view());
  CudaBlockSolver solver(system, Method::cg, Variant::classic, {});
  const std::pair<std::int64_t, std::int64_t> strides[] = {
      {5, 1}, {9, 1}, {1, a.rows}, {1, a.rows + 3}, {2, 2 * a.rows}, {10, 2}};
  for (const auto& [row_stride, vector_stride] : strides) {
    SCOPED_TRACE(row_stride);
    Array<double> all_b(12 * a.rows, -7.0), all_x(12 * a.rows, -7.0);
    const MultiVector<double> in{all_b.data(), a.rows, 5, row_stride, vector_stride};
    const MultiVector<double> out{all_x.data(), a.rows, 5, row_stride, vector_stride};
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i) in(i, j) = b[j][i];
    solver.solve(in, out, true, {});
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i)
        EXPECT_EQ(std::exchange(out(i, j), -7.0), expected[j].x[i]);
    EXPECT_EQ(std::ranges::count(all_x, -7.0), std::ssize(all_x)) << "written between the vectors";
  }
}

TEST_F(BlockGpu, StopsWhenAskedWithTheSolutionsSoFar) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 10);
  const std::vector<Array<double>> b = random_columns(a.rows, 4);
  options.rule.norm = NormKind::none;
  options.rule.max_iterations = 20'000'000;
  options.observer.stop = [] { return true; };
  for (const Solved& column : test::solve_block_on_gpu(a, b, options)) {
    EXPECT_EQ(column.outcome.reason, Reason::interrupted);
    EXPECT_LT(column.outcome.iterations, 100);
  }
}

TEST_F(BlockGpu, EachColumnMayHaveAnAbsoluteTolerance) {
  const CsrMatrix<double> a = grid_matrix(16);
  const Array<double> b = test::random_vector<double>(a.rows);
  Array<double> all_b(3 * a.rows), all_x(3 * a.rows);
  for (std::int64_t i = 0; i < 3 * a.rows; ++i) all_b[i] = b[i / 3];
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, on_device.view());
  CudaBlockSolver solver(system, Method::cg, Variant::classic, {});
  const double atol[] = {1e-3, 1e-50, 1e-1};
  const auto results = solver.solve(side_by_side<const double>(all_b.data(), a.rows, 3),
                                    side_by_side(all_x.data(), a.rows, 3), true, {}, {}, atol);
  EXPECT_EQ(results[0].reason, Reason::atol);
  EXPECT_EQ(results[1].reason, Reason::rtol);
  EXPECT_LT(results[2].iterations, results[0].iterations);
  EXPECT_LT(results[0].iterations, results[1].iterations);
}

// A system that counts what it is asked for. It is not recorded, so that it sees each product.
class CountingSystem : public CudaKernelSystem {
 public:
  using CudaKernelSystem::CudaKernelSystem;
  Recording recording() const override { return Recording::none; }
  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                      StreamRef stream) override {
    widths.push_back(x.width);
    CudaKernelSystem::multi_multiply(x, y, stream);
  }
  std::vector<std::int64_t> widths;
};

TEST_F(BlockGpu, ColumnsThatHaveEndedAreNotMultiplied) {
  std::vector<std::vector<double>> dense(64, std::vector<double>(64, 0.0));
  for (std::size_t i = 0; i < 64; ++i) dense[i][i] = static_cast<double>(i + 1);
  const CsrMatrix<double> a = from_dense(dense);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CountingSystem system(*kernel, on_device.view());
  std::vector<Array<double>> b(8, Array<double>(64, 0.0));
  for (std::size_t j = 0; j < 8; ++j) b[j][j] = 1;  // one iteration
  b[5].assign(64, 1.0);                             // as many as it takes
  CudaBlockSolver solver(system, Method::cg, Variant::classic, {});
  const std::vector<Solved> solved = test::solve_block(solver, b, options);
  EXPECT_EQ(solved[0].outcome.iterations, 1);
  EXPECT_GT(solved[5].outcome.iterations, 20);
  EXPECT_LE(std::ranges::count(system.widths, 8), 12) << "two batches, and the confirmation";
  EXPECT_GE(std::ranges::count(system.widths, 1), solved[5].outcome.iterations - 12);
}

TEST_F(BlockGpu, ItsMemoryServesNarrowerAndWiderSolves) {
  const CsrMatrix<double> a = grid_matrix(16);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, on_device.view());
  const Array<double> d = test::diagonal_of(a);
  CudaBlockSolver solver(system, Method::cg, Variant::classic, test::jacobi(d));
  for (const std::int64_t width : {3, 8, 1, 5, 9}) {
    const std::vector<Array<double>> b = random_columns(a.rows, width);
    expect_solved(a, b, test::solve_block(solver, b, options));
  }
  EXPECT_TRUE(solver.solve({nullptr, a.rows}, {nullptr, a.rows}, true, {}).empty());
  EXPECT_GT(solver.bytes(8), 8 * 6 * a.rows * 8);
  EXPECT_LT(solver.bytes(8), 8 * 10 * a.rows * 8);
}

TEST_F(BlockGpu, RenewTakesThePreconditionerOfNewValues) {
  const CsrMatrix<double> a = grid_matrix(16, 0, 100);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, on_device.view());
  const Array<double> ones(a.rows, 1.0), d = test::diagonal_of(a);
  CudaBlockSolver solver(system, Method::cg, Variant::classic, test::jacobi(ones));
  const std::vector<Array<double>> b = random_columns(a.rows, 4);
  const std::int64_t before = test::solve_block(solver, b, options)[0].outcome.iterations;
  solver.renew(test::jacobi(d));
  const std::vector<Solved> solved = test::solve_block(solver, b, options);
  expect_solved(a, b, solved);
  EXPECT_LT(solved[0].outcome.iterations, before);
}

TEST_F(BlockGpu, ABlockThatDoesNotFitIsRefused) {
  const CsrMatrix<double> a = grid_matrix(2000);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, on_device.view());
  CudaBlockSolver solver(system, Method::cg, Variant::classic, {});
  DeviceBuffer<char> most(device_memory().free_bytes - (std::size_t{1} << 30), stream);
  stream.synchronize();
  Array<double> b(a.rows * 64, 1.0), x(a.rows * 64);
  try {
    solver.solve(side_by_side<const double>(b.data(), a.rows, 64),
                 side_by_side(x.data(), a.rows, 64), true, {});
    FAIL() << "12 GB in 1 GB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_NE(std::string(error.what()).find("64 right-hand sides"), std::string::npos);
  }
  most = {};
}

}  // namespace
}  // namespace trireme::solvers
