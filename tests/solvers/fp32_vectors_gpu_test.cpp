// SPDX-License-Identifier: BSD-3-Clause
// Loops with FP32 vectors on a GPU, with every kernel that has such a product.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "device/device.hpp"
#include "kernels/narrow_kernel.hpp"
#include "solvers/gpu_solves.hpp"
#include "solvers/pieces.hpp"
#include "sparse/generators.hpp"

namespace trireme::solvers {
namespace {

using test::random_vector;

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.cuda_float && !entry.peer && !entry.library) names.emplace_back(entry.name);
  return names;
}

CsrMatrix<double> generated(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec = {.kind = kind, .n = n};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

struct OnGpu {
  Stream stream;
  DeviceCsrMatrix<double> matrix;
  DeviceBuffer<float> defect;
  std::unique_ptr<CudaKernel<double>> exact;
  NarrowKernel narrow;
  CudaKernelSystem in_fp64, in_fp32;

  OnGpu(const CsrMatrix<double>& a, const std::string& kernel)
      : matrix(to_device(a.view(), stream)),
        defect(to_device(std::span<const float>(test::row_defect(a)), stream)),
        exact(build_cuda_kernel<double>("csr-vector", matrix.view(), stream)),
        narrow(kernel, matrix.view(), defect.view(), stream),
        in_fp64(*exact, matrix.view()),
        in_fp32(*exact, matrix.view(), nullptr, {}, &narrow) {
    stream.synchronize();
  }
};

class Fp32Product : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Fp32Product, testing::ValuesIn(kernels()), [](const auto& name) {
  std::string text = name.param;
  std::erase(text, '-');
  return text;
});

// The result is rounded once, from a sum in FP64: rows cancel nearly all that they add up.
TEST_P(Fp32Product, SumsInFp64AndAddsTheRowDefect) {
  std::vector<CsrMatrix<double>> matrices;
  const std::pair<const char*, std::int64_t> kinds[] = {{"poisson3d", 20},   {"diffusion3d", 16},
                                                        {"elasticity3d", 8}, {"lognormal", 3000},
                                                        {"arrow", 3000},     {"circuit", 4000}};
  for (const auto& [kind, n] : kinds) matrices.push_back(generated(kind, n));
  matrices.push_back(test::irregular_matrix(3000, 0.1));
  for (CsrMatrix<double>& a : matrices)
    for (double& value : a.values) value /= 3;
  for (const CsrMatrix<double>& a : matrices) {
    if (a.rows != a.cols) continue;
    SCOPED_TRACE(a.rows);
    OnGpu gpu(a, GetParam());
    ASSERT_TRUE(gpu.narrow.is_complete());
    Array<float> x(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i)
      x[i] = static_cast<float>(1 + 1e-5 * std::sin(static_cast<double>(i)));
    const Array<float> defect = test::row_defect(a);
    const auto x_there = to_device(std::span<const float>(x), gpu.stream);
    const std::size_t count = gpu.narrow.dot_partials();
    for (const bool with_dot : {false, true}) {
      if (with_dot && count == 0) continue;
      const Array<float> poison(a.rows, std::numeric_limits<float>::quiet_NaN());
      const DeviceBuffer<float> y_there = to_device(std::span<const float>(poison), gpu.stream);
      const DeviceBuffer<double> partials(with_dot ? count : 0, gpu.stream);
      gpu.narrow.multiply(x_there.view(), y_there.span(), partials.span(), gpu.stream);
      const Array<float> y = to_host(y_there.view(), gpu.stream);
      double dot = 0, dot_size = 0;
      for (std::int64_t row = 0; row < a.rows; ++row) {
        long double sum = static_cast<long double>(defect[row]) * x[row];
        long double size = std::abs(sum);
        for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
          const long double term =
              static_cast<long double>(static_cast<float>(a.values[k])) * x[a.col_idx[k]];
          sum += term;
          size += std::abs(term);
        }
        const double entries = a.row_ptr[row + 1] - a.row_ptr[row] + 2;
        const auto exact = static_cast<double>(sum);
        const double bound = std::abs(exact) * std::ldexp(1.0, -24) +
                             entries * std::ldexp(static_cast<double>(size), -52) + 1e-45;
        ASSERT_NEAR(y[row], exact, bound) << "row " << row;
        dot += exact * x[row];
        dot_size += static_cast<double>(size) * std::abs(x[row]);
      }
      if (!with_dot) continue;
      double sum = 0;
      for (const double partial : to_host(partials.view(), gpu.stream)) sum += partial;
      EXPECT_NEAR(sum, dot, 1e-12 * dot_size);
    }
  }
}

class Fp32VectorsGpu : public testing::TestWithParam<std::tuple<Method, std::string, CudaMode>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    const auto& [method, kernel, mode] = GetParam();
    options.method = method;
    options.variant = Variant::classic;
    options.rule.rtol = 1e-10;
    a = test::grid_matrix(70, info_of(method).symmetric ? 0 : 0.5, 50);
    for (double& value : a.values) value /= 3;
    b = random_vector<double>(a.rows);
    diagonal = test::diagonal_of(a);
    options.preconditioner = test::jacobi(diagonal);
    gpu = std::make_unique<OnGpu>(a, kernel);
    ASSERT_TRUE(gpu->narrow.is_complete());
  }
  std::unique_ptr<CudaSolver> solver(CudaSystem& system) {
    return std::make_unique<CudaSolver>(system, options.method, options.variant,
                                        options.preconditioner,
                                        CudaOptions{.mode = std::get<CudaMode>(GetParam())});
  }
  double most() const { return options.method == Method::cg ? 1.10 : 1.6; }

  test::Options options;
  CsrMatrix<double> a;
  Array<double> b, diagonal;
  std::unique_ptr<OnGpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(
    Loops, Fp32VectorsGpu,
    testing::Combine(testing::Values(Method::cg, Method::bicgstab), testing::ValuesIn(kernels()),
                     testing::Values(CudaMode::graph, CudaMode::stepped)),
    [](const auto& c) {
      std::string name = std::string(info_of(std::get<Method>(c.param)).name) + "_" +
                         std::get<std::string>(c.param) +
                         (std::get<CudaMode>(c.param) == CudaMode::graph ? "_graph" : "_stepped");
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST_P(Fp32VectorsGpu, ReachTheToleranceInFewMoreIterations) {
  const test::Solved full = test::solve_by(*solver(gpu->in_fp64), b, options);
  const auto narrow = solver(gpu->in_fp32);
  EXPECT_TRUE(narrow->vectors_in_fp32());
  const test::Solved once = test::solve_by(*narrow, b, options);
  const test::Solved twice = test::solve_by(*narrow, b, options);
  EXPECT_EQ(once.outcome.reason, Reason::rtol);
  EXPECT_EQ(once.outcome.exact_from, -1);
  EXPECT_GE(once.outcome.replacements, 2);
  EXPECT_LE(test::relative_residual(a, b, once.x), 1.01e-10);
  EXPECT_LE(once.outcome.iterations, most() * full.outcome.iterations + 2);
  EXPECT_EQ(once.x, twice.x);
  EXPECT_EQ(once.history, twice.history);
}

TEST_P(Fp32VectorsGpu, GoOnWhereTheyWereStopped) {
  const auto make = [this] { return solver(gpu->in_fp32); };
  const test::Solved whole = test::solve_by(*make(), b, options);
  for (const std::int64_t piece : {3, 40}) {
    const test::SolvedInPieces pieces = test::solve_in_pieces(make, b, options, piece);
    EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, pieces.x), 1.01e-10);
    EXPECT_LE(pieces.outcome.iterations, whole.outcome.iterations * 5 / 4 + 5);
  }
}

TEST_P(Fp32VectorsGpu, DoTheSameAtEveryScaleAndFromAGuess) {
  options.rule.atol = 0;
  const test::Solved at_one = test::solve_by(*solver(gpu->in_fp32), b, options);
  for (const int exponent : {-400, 400}) {
    Array<double> scaled = b;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    const test::Solved solved = test::solve_by(*solver(gpu->in_fp32), scaled, options);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_EQ(solved.outcome.iterations, at_one.outcome.iterations);
  }
  options.x0 = random_vector<double>(a.rows, 7);
  const test::Solved guessed = test::solve_by(*solver(gpu->in_fp32), b, options);
  EXPECT_EQ(guessed.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, guessed.x), 1.01e-10);
}

// Passes take four rows at once, and the last rows one by one.
TEST(Fp32VectorsOnGpu, ServeAnyNumberOfRows) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  select_device();
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 1022, 1023, 1024, 1025, 600'003}) {
    SCOPED_TRACE(rows);
    CsrMatrix<double> a;
    a.rows = a.cols = rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (const std::int64_t col : {row - 1, row, row + 1})
        if (col >= 0 && col < rows) {
          a.col_idx.push_back(static_cast<std::int32_t>(col));
          a.values.push_back(col == row ? 2.1 + 1e-3 * static_cast<double>(row % 7) : -1);
        }
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
    }
    const Array<double> b = random_vector<double>(rows), diagonal = test::diagonal_of(a);
    OnGpu gpu(a, "sell");
    test::Options options;
    options.rule.rtol = 1e-10;
    options.preconditioner = test::jacobi(diagonal);
    CudaSolver solver(gpu.in_fp32, Method::cg, Variant::classic, options.preconditioner,
                      {.mode = CudaMode::graph});
    const test::Solved once = test::solve_by(solver, b, options);
    EXPECT_EQ(once.outcome.reason, Reason::rtol);
    EXPECT_EQ(once.outcome.exact_from, -1);
    EXPECT_LE(test::relative_residual(a, b, once.x), 1.01e-10);
    EXPECT_EQ(once.x, test::solve_by(solver, b, options).x);
  }
}

TEST(Fp32VectorsOnGpu, StepUpWhereFp32IsTooCoarse) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  select_device();
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  const Array<double> b = random_vector<double>(a.rows), diagonal = test::diagonal_of(a);
  OnGpu gpu(a, "csr-vector");
  test::Options options;
  options.preconditioner = test::jacobi(diagonal);
  options.rule.rtol = 1e-6;
  CudaSolver solver(gpu.in_fp32, Method::cg, Variant::classic, options.preconditioner,
                    {.mode = CudaMode::graph});
  for (int k = 0; k < 2; ++k) {
    const test::Solved solved = test::solve_by(solver, b, options);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_GE(solved.outcome.exact_from, 0);
    EXPECT_LE(test::relative_residual(a, b, solved.x), 1.01e-6);
  }
}

}  // namespace
}  // namespace trireme::solvers
