// SPDX-License-Identifier: BSD-3-Clause
// Many right-hand sides at once on a GPU with work vectors in FP32, and the product that these
// need.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "solvers/gpu_block_solves.hpp"

namespace trireme::solvers {
namespace {

using test::grid_matrix;
using test::random_columns;
using test::relative_residual;
using test::Solved;

constexpr const char* kKernels[] = {"csr-vector", "sell", "dasp", "teb"};

// No value is an FP32 number, so that the row defect is not 0.
CsrMatrix<double> thirds(CsrMatrix<double> a) {
  for (double& value : a.values) value /= 3;
  return a;
}

void scale(Array<double>& vector, double by) {
  for (double& value : vector) value *= by;
}

class BlockFloatsGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    options.rule.rtol = 1e-10;
    options.rule.atol = 0;
  }

  test::GpuOptions options;
};

// The bound is that of one rounding to FP32.
TEST_F(BlockFloatsGpu, ProductsSumInFp64AndHaveTheRowDefect) {
  const Stream stream;
  for (const CsrMatrix<double>& a :
       {thirds(grid_matrix(150)), thirds(test::irregular_matrix(6000, 0, 3000))}) {
    const auto on_device = to_device(a.view(), stream);
    Array<float> defect = test::row_defect(a);
    for (std::size_t i = 0; i < defect.size(); ++i) defect[i] += static_cast<float>(i % 3);
    const auto defect_on_device = to_device(std::span<const float>(defect), stream);
    for (const char* const name : kKernels) {
      NarrowKernel kernel(name, on_device.view(), defect_on_device.view(), stream);
      ASSERT_TRUE(kernel.multiplies_vectors()) << name;
      for (const std::int64_t width : {1, 3, 4, 5, 8, 13, 16, 24, 32, 40})
        for (const std::int64_t stride : {width, (width + 3) / 4 * 4}) {
          SCOPED_TRACE(std::string(name) + " " + std::to_string(width));
          Array<float> x(a.rows * stride, 0.0f), y(a.rows * stride, -7.0f);
          for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t j = 0; j < width; ++j)
              x[i * stride + j] = static_cast<float>((i * 37 + j * 11) % 101 - 50) / 50.0f;
          auto from = to_device(std::span<const float>(x), stream);
          auto to = to_device(std::span<const float>(y), stream);
          kernel.multi_multiply({from.data(), a.rows, width, stride, 1},
                                {to.data(), a.rows, width, stride, 1}, stream);
          copy_to_host(to.view(), std::span<float>(y), stream);
          stream.synchronize();
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t j = 0; j < stride; ++j) {
              if (j >= width) {
                wrong += y[i * stride + j] == -7.0f ? 0 : 1;
                continue;
              }
              double sum = static_cast<double>(defect[i]) * x[i * stride + j];
              for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
                sum += static_cast<double>(static_cast<float>(a.values[k])) *
                       x[a.col_idx[k] * stride + j];
              wrong += std::abs(y[i * stride + j] - sum) <= 6.1e-8 * std::abs(sum) + 1e-12 ? 0 : 1;
            }
          EXPECT_EQ(wrong, 0);
        }
    }
  }
}

TEST_F(BlockFloatsGpu, ReachTheToleranceInAboutAsManyIterationsAsDouble) {
  for (const Method method : {Method::cg, Method::bicgstab}) {
    const CsrMatrix<double> a = thirds(grid_matrix(60, method == Method::cg ? 0 : 0.5, 100));
    const Array<double> d = test::diagonal_of(a);
    options.method = method;
    options.preconditioner = test::jacobi(d);
    for (const std::int64_t width : {5, 32}) {
      const std::vector<Array<double>> b = random_columns(a.rows, width);
      options.gpu_kernel = "csr-vector";
      const std::vector<Solved> in_double = test::solve_block_on_gpu(a, b, options);
      for (const char* const name : kKernels) {
        SCOPED_TRACE(std::string(info_of(method).name) + " " + name + " " + std::to_string(width));
        options.gpu_kernel = name;
        const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options);
        double all = 0, all_in_double = 0;
        for (std::size_t j = 0; j < b.size(); ++j) {
          EXPECT_EQ(solved[j].outcome.reason, Reason::rtol) << j;
          EXPECT_EQ(solved[j].outcome.exact_from, -1) << j;
          EXPECT_GE(solved[j].outcome.replacements, 1) << j;
          EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-10) << j;
          all += static_cast<double>(solved[j].outcome.iterations);
          all_in_double += static_cast<double>(in_double[j].outcome.iterations);
        }
        EXPECT_LE(all, (method == Method::cg ? 1.25 : 1.5) * all_in_double);
      }
    }
  }
}

TEST_F(BlockFloatsGpu, StartFromGuessesAndWithoutADiagonalArray) {
  const CsrMatrix<double> a = thirds(grid_matrix(40));
  const std::vector<Array<double>> b = random_columns(a.rows, 7), x0 = random_columns(a.rows, 7, 9);
  for (const Method method : {Method::cg, Method::bicgstab}) {
    options.method = method;
    const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options, x0);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(solved[j].outcome.reason, Reason::rtol) << j;
      EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-10) << j;
    }
  }
}

// FP32 holds none of the large and none of the small numbers.
TEST_F(BlockFloatsGpu, EachColumnHasAUnitOfItsOwn) {
  const CsrMatrix<double> a = thirds(grid_matrix(40, 0, 10));
  const Array<double> d = test::diagonal_of(a);
  options.preconditioner = test::jacobi(d);
  std::vector<Array<double>> b = random_columns(a.rows, 5);
  scale(b[0], 1e-120);
  scale(b[2], 1e120);
  b[3].assign(b[3].size(), 0.0);
  for (const Method method : {Method::cg, Method::bicgstab}) {
    SCOPED_TRACE(std::string(info_of(method).name));
    options.method = method;
    const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options);
    for (const std::size_t j : {0, 1, 2, 4}) {
      EXPECT_EQ(solved[j].outcome.reason, Reason::rtol) << j;
      EXPECT_EQ(solved[j].outcome.exact_from, -1) << j;
      EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-10) << j;
    }
    EXPECT_GT(static_cast<int>(solved[3].outcome.reason), 0);
    EXPECT_EQ(solved[3].outcome.iterations, 0);
    EXPECT_EQ(solved[3].x, Array<double>(a.rows, 0.0));
  }
}

// Squares of such norms are not even FP64 numbers.
TEST_F(BlockFloatsGpu, ColumnsThatAreTooLargeOrTooSmallForDoubleEndAsThere) {
  const CsrMatrix<double> a = thirds(grid_matrix(20));
  std::vector<Array<double>> b = random_columns(a.rows, 3);
  scale(b[0], 1e-200);
  scale(b[2], 1e200);
  for (const Method method : {Method::cg, Method::bicgstab}) {
    options.method = method;
    const std::vector<Solved> in_double = test::solve_block_on_gpu(a, b, options);
    const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options);
    for (std::size_t j = 0; j < b.size(); ++j)
      EXPECT_EQ(solved[j].outcome.reason, in_double[j].outcome.reason) << j;
    EXPECT_LE(relative_residual(a, b[1], solved[1].x), 1.01e-10);
  }
}

// The columns end one after another, so that those that remain move together.
TEST_F(BlockFloatsGpu, ColumnsMoveTogetherWhenOthersHaveEnded) {
  std::vector<std::vector<double>> dense(64, std::vector<double>(64, 0.0));
  for (std::size_t i = 0; i < 64; ++i) dense[i][i] = static_cast<double>(i + 1) / 3;
  const CsrMatrix<double> a = test::from_dense(dense);
  std::vector<Array<double>> b(32, Array<double>(64, 0.0));
  for (std::size_t j = 0; j < b.size(); ++j)
    for (std::size_t m = 0; m < j * 7 % 32 + 1; ++m) b[j][2 * m] = 1 + static_cast<double>(j);
  for (const Method method : {Method::cg, Method::bicgstab}) {
    options.method = method;
    const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(solved[j].outcome.reason, Reason::rtol) << j;
      EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-10) << j;
    }
  }
}

TEST_F(BlockFloatsGpu, ColumnsForWhichFp32IsTooCoarseGoOnInFp64) {
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  std::vector<Array<double>> b = random_columns(a.rows, 6);
  for (const std::size_t j : {1, 4}) b[j].assign(b[j].size(), 3.0);
  options.rule.rtol = 1e-6;
  const std::vector<Solved> solved = test::solve_block_in_fp32_on_gpu(a, b, options);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0) << j;
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-6) << j;
    if (j != 1 && j != 4) {
      EXPECT_GE(solved[j].outcome.exact_from, 0) << j;
    }
  }
}

}  // namespace
}  // namespace trireme::solvers
