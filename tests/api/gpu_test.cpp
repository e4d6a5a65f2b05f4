// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface with arrays in the memory of a GPU. tests/python/test_gpu.py has more.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "api/caller_matrix.hpp"
#include "api/gpu.hpp"
#include "api/systems.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/plain_residual.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme::api {
namespace {

using namespace test;

TEST(ApiOnGpu, ASolverOnTheCpuRefusesItsArrays) {
  const System system = grid(4);
  Solver solver(system.arrays(), {.device = "cpu"});
  Product product(system.arrays(), "auto", "cpu");
  EXPECT_EQ(solver.gpu(), -1);
  EXPECT_EQ(product.gpu(), -1);
  double somewhere = 0;
  const GpuArray<const double> b{&somewhere, 16};
  const GpuArray<double> x{&somewhere, 16};
  const auto refused = [](const auto& work) {
    try {
      work();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), Failure::Kind::usage);
      return std::string(failure.what());
    }
    return std::string("not refused");
  };
  EXPECT_EQ(refused([&] { solver.solve(b, x); }),
            "b is on a GPU, and this solver works on the CPU; use device cuda, or host memory");
  EXPECT_EQ(refused([&] { solver.solve_many(b, x, 1); }).substr(0, 13), "b is on a GPU");
  EXPECT_EQ(refused([&] { solver.precondition(b, x); }).substr(0, 13), "r is on a GPU");
  EXPECT_EQ(refused([&] { product.multiply(b, x); }).substr(0, 13), "x is on a GPU");
}

class ApiWithGpuArrays : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};

TEST_F(ApiWithGpuArrays, TakesAndGivesThem) {
  const Stream stream;
  const System system = grid(40);
  const std::vector<double> b = random_vector(1600 * 3);
  const DeviceBuffer<double> of_b = to_device(std::span<const double>(b), stream);
  const DeviceBuffer<double> of_x(b.size(), stream);
  fill_nan(of_x.span(), stream);
  const auto solution = [&](std::size_t j) {
    const Array<double> all = to_host(of_x.view(), stream);
    return std::vector<double>(all.begin() + j * 1600, all.begin() + (j + 1) * 1600);
  };
  Solver solver(system.arrays(), {.method = "cg"});
  EXPECT_EQ(solver.gpu(), 0);
  const SolveReport report =
      solver.solve(GpuArray<const double>{of_b.data(), 1600, static_cast<StreamRef>(stream)},
                   GpuArray<double>{of_x.data(), 1600, static_cast<StreamRef>(stream)});
  EXPECT_TRUE(report.converged()) << report.text;
  EXPECT_LE(system.relative_residual(std::span(b).first(1600), solution(0)), 1.03e-8);
  fill_nan(of_x.span(), stream);
  const auto reports =
      solver.solve_many({of_b.data(), b.size(), static_cast<StreamRef>(stream)},
                        {of_x.data(), b.size(), static_cast<StreamRef>(stream)}, 3);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_TRUE(reports[j].converged());
    EXPECT_LE(system.relative_residual(std::span(b).subspan(j * 1600, 1600), solution(j)), 1.03e-8);
  }
  Product product(system.arrays());
  product.multiply({of_b.data(), 1600, static_cast<StreamRef>(stream)},
                   {of_x.data(), 1600, static_cast<StreamRef>(stream)});
  const std::vector<double> expected = system.times(std::span(b).first(1600));
  const std::vector<double> y = solution(0);
  for (std::size_t i = 0; i < 1600; ++i) EXPECT_NEAR(y[i], expected[i], 1e-13);
  EXPECT_THROW(solver.solve(GpuArray<const double>{of_b.data(), 1599}, {of_x.data(), 1600}),
               Failure);
}

// The kernel of small systems leaves the last norms with its result; the host copies more of them.
TEST_F(ApiWithGpuArrays, HistoriesOfAnyLengthAreComplete) {
  const Stream stream;
  const System system = system_of(1400, 1400, [](std::int64_t i, std::int64_t j) {
    return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const std::vector<double> b = random_vector(1400);
  const DeviceBuffer<double> of_b = to_device(std::span<const double>(b), stream);
  const DeviceBuffer<double> of_x(b.size(), stream);
  Solver solver(system.arrays(), {.method = "cg", .preconditioner = "none"});
  const auto history = [&](std::int64_t most) {
    return solver
        .solve({of_b.data(), 1400, static_cast<StreamRef>(stream)},
               {of_x.data(), 1400, static_cast<StreamRef>(stream)}, {.max_iterations = most})
        .history;
  };
  const std::vector<double> whole = history(1300);
  ASSERT_EQ(whole.size(), 1301U);
  EXPECT_EQ(std::set<double>(whole.begin(), whole.end()).size(), whole.size());
  for (const std::int64_t most : {1, 63, 64, 65, 510, 511, 512, 513, 1024, 1200})
    EXPECT_EQ(history(most), std::vector<double>(whole.begin(), whole.begin() + most + 1)) << most;
}

// A system that fits into shared memory has a product of its own.
TEST_F(ApiWithGpuArrays, TimesKernelsWhereManySolvesAreAhead) {
  for (const std::int64_t n : {20, 700}) {
    const System system = grid(n);
    const std::vector<double> b = random_vector(system.rows);
    Solver solver(system.arrays(), {.method = "cg", .preconditioner = "jacobi"});
    for (int k = 0; k < 3; ++k) {
      std::vector<double> x(b.size());
      const SolveReport report = solver.solve(b, x, {.rtol = 1e-4, .solves_after = 10'000'000});
      EXPECT_TRUE(report.converged()) << report.text;
      EXPECT_LE(system.relative_residual(b, x), 1.03e-4);
    }
    const SolverFacts facts = solver.facts();
    if (n == 20) {
      EXPECT_TRUE(facts.kernels.empty());
      continue;
    }
    ASSERT_GT(facts.kernels.size(), 1U);
    EXPECT_EQ(facts.kernels[0].kernel, facts.kernel);
    for (const KernelTrial& trial : facts.kernels)
      if (trial.product_microseconds > 0) {
        EXPECT_LE(facts.kernels[0].product_microseconds, 1.03 * trial.product_microseconds)
            << trial.kernel;
      }
  }
}

// As by the host, for rows of like and of different sizes, after new values, and where squares
// leave the range of double.
TEST_F(ApiWithGpuArrays, ResidualsAreThoseOfTheHost) {
  const System system = grid(30);
  const std::vector<double> of_b = random_vector(900, 3), of_x = random_vector(900, 4);
  const auto matrix = copied_square(Ranks(nullptr), system.arrays());
  Gpu gpu;
  const auto compare = [&](double scale, double spread, double part = 1) {
    SCOPED_TRACE(testing::Message() << scale << " " << spread << " " << part);
    Array<double> b(900), x(900), r;
    std::vector<double> values = system.values;
    for (std::size_t i = 0; i < 900; ++i) {
      const double size = scale * std::pow(spread, static_cast<double>(i % 5));
      for (auto k = system.row_ptr[i]; k < system.row_ptr[i + 1]; ++k) values[k] *= size;
      b[i] = part * size * of_b[i];
      x[i] = part * of_x[i];
    }
    matrix->replace_values(values);
    gpu.forget_matrix();
    const DeviceBuffer<double> b_there = to_device(std::span<const double>(b), gpu.stream());
    const DeviceBuffer<double> x_there = to_device(std::span<const double>(x), gpu.stream());
    const Residual there = gpu.residual(*matrix, b_there.view(), x_there.view());
    const Residual here =
        plain_residual(*matrix, matrix->blocks.local.values, row_sizes(*matrix), b, x, r);
    EXPECT_NEAR(there.norm, here.norm, 1e-12 * here.norm);
    EXPECT_EQ(here.of_rows.has_value(), spread >= 10);
    ASSERT_EQ(there.of_rows.has_value(), here.of_rows.has_value());
    if (here.of_rows) {
      EXPECT_NEAR(*there.of_rows, *here.of_rows, 1e-12 * *here.of_rows);
    }
  };
  compare(1, 1);
  compare(1, 10);
  compare(1, 50);
  compare(1, 1);
  compare(1e-180, 1);
  compare(1e-180, 1e40);
  compare(1e160, 10);
  compare(1e100, 10, 1e-200);  // only the squares by row sizes leave the range
}

}  // namespace
}  // namespace trireme::api
