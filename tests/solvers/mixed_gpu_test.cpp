// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision on a GPU: with every kernel that has FP32 values, solves reach FP64 accuracy.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "device/device.hpp"
#include "kernels/narrow_kernel.hpp"
#include "solvers/gpu_solves.hpp"

namespace trireme::solvers {
namespace {

using test::random_vector;

struct OnDevice {
  Stream stream;
  DeviceCsrMatrix<double> matrix;
  DeviceBuffer<float> defect;
  DeviceCsr<double> csr;

  explicit OnDevice(const CsrMatrix<double>& a)
      : matrix(to_device(a.view(), stream)),
        defect(to_device(std::span<const float>(test::row_defect(a)), stream)),
        csr(matrix.view()) {
    stream.synchronize();
  }
};

class MixedGpu : public testing::TestWithParam<std::tuple<Method, Variant>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    std::tie(method, variant) = GetParam();
    a = test::grid_matrix(60, info_of(method).symmetric ? 0 : 0.5, 100);
    for (double& value : a.values) value /= 3;  // no value is an FP32 number
    b = random_vector<double>(a.rows);
    diagonal = test::diagonal_of(a);
    preconditioner = test::jacobi(diagonal);
    rule.rtol = 1e-12;
  }
  SolveResult solve(CudaSystem& system, Array<double>& x, CudaMode mode) {
    CudaSolver solver(system, method, variant, preconditioner, {mode});
    const SolveResult first = solver.solve({b, x, true}, rule);
    const Array<double> once = x;
    EXPECT_EQ(solver.solve({b, x, true}, rule).iterations, first.iterations);
    EXPECT_EQ(x, once);
    return first;
  }

  // Whether the method has a loop with FP32 vectors.
  bool has_floats() const { return method == Method::bicgstab || method == Method::cg; }

  Method method = Method::cg;
  Variant variant = Variant::classic;
  CsrMatrix<double> a;
  Array<double> b, diagonal;
  PreconditionerSpec preconditioner;
  Tolerances rule;
};
std::string name_of(const testing::TestParamInfo<MixedGpu::ParamType>& parameters) {
  const auto [method, variant] = parameters.param;
  return std::string(info_of(method).name) +
         (variant == Variant::single_reduction ? "SingleReduction" : "");
}
std::vector<MixedGpu::ParamType> algorithms() {
  std::vector<MixedGpu::ParamType> all;
  for_each_algorithm(
      [&](auto entry) { all.emplace_back(entry.method, decltype(entry)::type::variant); });
  return all;
}
INSTANTIATE_TEST_SUITE_P(Methods, MixedGpu, testing::ValuesIn(algorithms()), name_of);

TEST_P(MixedGpu, ReachesTheToleranceByTheTrueResidualWithEveryKernel) {
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_mixed || !entry.deterministic) continue;
    const auto kernel = build_mixed_cuda_kernel(entry.name, device.csr, device.stream);
    for (const CudaMode mode : {CudaMode::graph, CudaMode::stepped}) {
      SCOPED_TRACE(std::string(entry.name) + (mode == CudaMode::graph ? " graph" : " stepped"));
      CudaKernelSystem mixed(*kernel, device.csr, exact.get(), device.defect.view());
      Array<double> x(a.rows);
      const SolveResult outcome = solve(mixed, x, mode);
      EXPECT_EQ(outcome.reason, Reason::rtol);
      EXPECT_EQ(outcome.exact_from, -1);
      EXPECT_GE(outcome.replacements, method == Method::minres ? 1 : 3);
      EXPECT_LE(test::relative_residual(a, b, x), 1.01e-12);
    }
    CudaKernelSystem uncorrected(*kernel, device.csr);
    Array<double> x(a.rows);
    solve(uncorrected, x, CudaMode::graph);
    EXPECT_GE(test::relative_residual(a, b, x), 1e-9) << entry.name;
  }
}

TEST_P(MixedGpu, ReachesItOverSeveralProcesses) {
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  const auto kernel = build_mixed_cuda_kernel("csr-vector", device.csr, device.stream);
  test::SeveralProcesses system(*kernel, device.csr, exact.get(), device.defect.view());
  for (const Recording how : {Recording::replay, Recording::none}) {
    system.how = how;
    Array<double> x(a.rows);
    EXPECT_EQ(solve(system, x, CudaMode::automatic).reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, x), 1.01e-12);
  }
}

TEST_P(MixedGpu, SmallSystemsStayInDoubleInThePersistentKernel) {
  if (info_of(method).restarts) GTEST_SKIP() << "the kernel does not run the method";
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  const auto kernel = build_mixed_cuda_kernel("csr-vector", device.csr, device.stream);
  CudaKernelSystem mixed(*kernel, device.csr, exact.get(), device.defect.view()),
      full(*exact, device.csr);
  Array<double> x(a.rows), x_full(a.rows);
  const SolveResult outcome = solve(mixed, x, CudaMode::persistent);
  EXPECT_EQ(outcome.reason, Reason::rtol);
  EXPECT_EQ(solve(full, x_full, CudaMode::persistent).iterations, outcome.iterations);
  EXPECT_EQ(x, x_full);
}

// A loop whose vectors are in FP32 too, where the method has one.
TEST_P(MixedGpu, ReachesItWithFp32VectorsAndEveryPreconditioner) {
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("csr-vector", device.csr, device.stream);
  NarrowKernel narrow("csr-vector", device.csr, device.defect.view(), device.stream);
  ASSERT_TRUE(narrow.is_complete());
  CudaKernelSystem system(*exact, device.csr, nullptr, {}, &narrow);
  rule.rtol = 1e-10;
  const test::BlocksOf blocks(a, 4);
  PreconditionerSpec chebyshev = preconditioner;
  chebyshev.kind = PreconditionerSpec::Kind::chebyshev;
  for (const PreconditionerSpec& spec : {preconditioner, blocks.spec, chebyshev}) {
    if (info_of(spec.kind).symmetric && !info_of(method).symmetric) continue;
    preconditioner = spec;
    for (const CudaMode mode : {CudaMode::graph, CudaMode::stepped}) {
      SCOPED_TRACE(std::string(info_of(spec.kind).summary) +
                   (mode == CudaMode::graph ? " graph" : " stepped"));
      Array<double> x(a.rows);
      const SolveResult outcome = solve(system, x, mode);
      EXPECT_EQ(outcome.reason, Reason::rtol);
      EXPECT_EQ(outcome.exact_from, -1);
      if (has_floats()) {
        EXPECT_GE(outcome.replacements, 3);
      }
      EXPECT_LE(test::relative_residual(a, b, x), 1.01e-10);
    }
  }
}

// A stopped solve leaves its directions in FP64, and goes on in another solver.
TEST_P(MixedGpu, GoesOnWithFp32VectorsAndBlocks) {
  if (!has_floats()) GTEST_SKIP() << "the method has no such loop";
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("csr-vector", device.csr, device.stream);
  NarrowKernel narrow("csr-vector", device.csr, device.defect.view(), device.stream);
  CudaKernelSystem system(*exact, device.csr, nullptr, {}, &narrow);
  rule.rtol = 1e-10;
  const test::BlocksOf blocks(a, 4);
  preconditioner = blocks.spec;
  Array<double> x(a.rows);
  const std::int64_t at_once = solve(system, x, CudaMode::graph).iterations;
  CudaSolver first(system, method, variant, preconditioner, {CudaMode::graph});
  CudaSolver second(system, method, variant, preconditioner, {CudaMode::graph});
  Tolerances half = rule;
  half.max_iterations = at_once / 2;
  EXPECT_EQ(first.solve({b, x, true}, half).reason, Reason::too_many_iterations);
  second.go_on(first.stopped());
  const SolveResult rest = second.solve({b, x, false}, rule);
  EXPECT_EQ(rest.reason, Reason::rtol);
  EXPECT_LE(static_cast<double>(rest.iterations), 1.3 * static_cast<double>(at_once) + 40);
  EXPECT_LE(test::relative_residual(a, b, x), 1.01e-10);
}

TEST_P(MixedGpu, GoesOnInFp64IfFp32IsTooCoarse) {
  if (!info_of(method).symmetric && !info_of(method).restarts)
    GTEST_SKIP() << "a matrix for symmetric methods and GMRES";
  a = test::pairs_that_fp32_merges();
  b = random_vector<double>(a.rows);
  preconditioner = {};
  rule.rtol = 1e-6;
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  const auto kernel = build_mixed_cuda_kernel("csr-vector", device.csr, device.stream);
  CudaKernelSystem system(*kernel, device.csr, exact.get(), device.defect.view());
  Array<double> x(a.rows);
  const SolveResult outcome = solve(system, x, CudaMode::graph);
  EXPECT_GT(static_cast<int>(outcome.reason), 0);
  EXPECT_GE(outcome.exact_from, 0);
  EXPECT_LE(test::relative_residual(a, b, x), 1.01e-6);
}

}  // namespace
}  // namespace trireme::solvers
