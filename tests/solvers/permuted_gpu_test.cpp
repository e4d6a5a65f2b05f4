// SPDX-License-Identifier: BSD-3-Clause
// The resident engine gives the caller's solution with a kernel that has a row order of its own.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/permutation.hpp"
#include "kernels/permuted_kernel.hpp"
#include "solvers/gpu_solves.hpp"
#include "solvers/permuted_system.hpp"

namespace trireme::solvers {
namespace {

using test::jacobi;
using test::random_vector;
using test::Solved;

class ResidentPermuted : public testing::TestWithParam<std::tuple<const char*, Method>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    const auto [kernel, method] = GetParam();
    options.gpu_kernel = kernel;
    options.method = method;
    options.rule.rtol = 1e-10;
    set_matrix(method == Method::bicgstab ? 0.2 : 0);
  }
  void set_matrix(double skew) {
    a = test::irregular_matrix(4000, skew);
    b = random_vector<double>(a.rows);
    d = test::diagonal_of(a);
    options.preconditioner = jacobi(d);
  }
  // Solves with the values of `now`, which the kernel takes after it was built for `a`. Both
  // matrices have the same pattern.
  Solved permuted(const CsrMatrix<double>& now) {
    const Stream stream;
    const auto before = to_device(a.view(), stream);
    const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, before.view(), stream);
    auto order = kernel->row_order(stream);
    EXPECT_GT(breaks_in(order.view(), stream), a.rows / 4) << "nothing is permuted";
    const auto own =
        std::make_shared<PermutedKernel>(*kernel, before.view(), std::move(order), stream);
    const auto values = to_device(std::span<const double>(now.values), stream);
    if (now.values != a.values) own->update_values(values.view(), stream);
    stream.synchronize();
    PermutedSystem system(own);
    CudaSolver solver(system, options.method, options.variant, options.preconditioner);
    EXPECT_EQ(solver.mode(), CudaMode::graph);
    test::solve_by(solver, b, options);
    return test::solve_by(solver, b, options);
  }
  void expect_same(const Solved& there, const Solved& here) {
    EXPECT_EQ(there.outcome.reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, there.x), 1.0001e-10);
    EXPECT_NEAR(there.outcome.iterations, here.outcome.iterations,
                (options.method == Method::cg ? 0.02 : 0.1) * here.outcome.iterations);
    const std::size_t comparable = options.method == Method::cg ? 8 : 3;
    ASSERT_GT(here.history.size(), comparable);
    for (std::size_t k = 0; k < comparable; ++k)  // sums are added in another order
      EXPECT_NEAR(there.history[k], here.history[k], 1e-11 * here.history[0]) << k;
    Array<double> difference(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) difference[i] = there.x[i] - here.x[i];
    EXPECT_LE(test::norm(difference), 1e-6 * test::norm(here.x));
  }
  CsrMatrix<double> a;
  Array<double> b, d;
  test::GpuOptions options;
};
INSTANTIATE_TEST_SUITE_P(, ResidentPermuted,
                         testing::Combine(testing::Values("dasp", "teb"),
                                          testing::Values(Method::cg, Method::bicgstab)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) +
                                  (std::get<1>(tested.param) == Method::cg ? "Cg" : "Bicgstab");
                         });

TEST_P(ResidentPermuted, GivesTheCallersSolution) {
  expect_same(permuted(a), test::solve_on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, StartsFromTheCallersGuess) {
  options.x0 = random_vector<double>(a.rows, 5);
  expect_same(permuted(a), test::solve_on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, SolvesOnTheDeviceWithoutAPreconditioner) {
  options.preconditioner = {};
  options.rule.max_iterations = 100'000;
  expect_same(permuted(a), test::solve_on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, FollowsNewValues) {
  CsrMatrix<double> now = a;
  for (std::int64_t i = 0; i < a.rows; ++i)  // D A D is symmetric if A is
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      now.values[k] *= (1 + 0.1 * (i % 5)) * (1 + 0.1 * (a.col_idx[k] % 5));
  d = test::diagonal_of(now);
  options.preconditioner = jacobi(d);
  const Solved there = permuted(now);
  a = now;
  expect_same(there, test::solve_on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, BlockJacobiIsRefused) {
  const test::BlocksOf blocks(a, 2);
  options.preconditioner = blocks.spec;
  EXPECT_THROW(permuted(a), Error);
}

TEST(ResidentPermutedChebyshev, BoundsTheSameSpectrum) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  select_device();
  const CsrMatrix<double> a = test::irregular_matrix(4000);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  test::GpuOptions options;
  options.gpu_kernel = "dasp";
  options.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  options.preconditioner.diagonal = d;
  const Solved here = test::solve_on_gpu(a, b, options);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>("dasp", on_device.view(), stream);
  const auto own = std::make_shared<PermutedKernel>(*kernel, on_device.view(),
                                                    kernel->row_order(stream), stream);
  PermutedSystem system(own);
  CudaSolver solver(system, Method::cg, Variant::classic, options.preconditioner);
  Array<double> x(a.rows);
  const SolveResult outcome = solver.solve({b, x, true}, options.rule, {});
  EXPECT_EQ(outcome.reason, Reason::rtol);
  EXPECT_NEAR(outcome.iterations, here.outcome.iterations, 1);
  EXPECT_LE(test::relative_residual(a, b, x), 1.0001e-8);
}

}  // namespace
}  // namespace trireme::solvers
