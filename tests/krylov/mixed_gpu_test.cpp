// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision on a GPU: every kernel with FP32 values reaches FP64's answers.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "krylov/resident/cuda_kernel_system.hpp"
#include "krylov/resident_systems.hpp"

namespace trireme::resident {
namespace {

using test::random_vector;

// The way of several processes, with one: sums that are already complete.
class SeveralProcesses : public CudaKernelSystem {
 public:
  using CudaKernelSystem::CudaKernelSystem;
  Recording how = Recording::replay;
  Recording recording() const override { return how; }
  std::size_t dot_partials() const override { return 0; }
  DeviceCsr<double> csr() const override { return {}; }
  int processes() const override { return 2; }
};

struct OnDevice {
  Stream stream;
  DeviceBuffer<std::int32_t> row_ptr, col_idx;
  DeviceBuffer<double> values;
  DeviceBuffer<float> defect;
  DeviceCsr<double> csr;

  explicit OnDevice(const CsrMatrix<double>& a)
      : row_ptr(to_device(std::span<const std::int32_t>(a.row_ptr), stream)),
        col_idx(to_device(std::span<const std::int32_t>(a.col_idx), stream)),
        values(to_device(std::span<const double>(a.values), stream)),
        defect(to_device(std::span<const float>(test::row_defect(a)), stream)),
        csr{a.rows, a.cols, a.nnz(), row_ptr.view(), col_idx.view(), values.view()} {
    stream.synchronize();
  }
};

class MixedGpu : public testing::TestWithParam<std::tuple<Method, Variant>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    std::tie(method, variant) = GetParam();
    a = test::grid_matrix(60, method == Method::bicgstab ? 0.5 : 0, 100);
    for (double& value : a.values) value /= 3;  // no value is an FP32 number
    b = random_vector<double>(a.rows);
    diagonal = test::diagonal_of(a);
    jacobi.kind = PreconditionerSpec::Kind::jacobi;
    jacobi.diagonal = diagonal;
    rule.rtol = 1e-12;
  }
  Outcome solve(CudaSystem& system, Array<double>& x, CudaMode mode) {
    CudaSolver solver(system, method, variant, jacobi, {mode});
    const Outcome first = solver.solve({b, x, true}, rule);
    const Array<double> once = x;
    EXPECT_EQ(solver.solve({b, x, true}, rule).iterations, first.iterations);
    EXPECT_EQ(x, once);
    return first;
  }

  Method method = Method::cg;
  Variant variant = Variant::classic;
  CsrMatrix<double> a;
  Array<double> b, diagonal;
  PreconditionerSpec jacobi;
  Tolerances rule;
};
std::string name_of(const testing::TestParamInfo<MixedGpu::ParamType>& parameters) {
  if (std::get<Method>(parameters.param) == Method::bicgstab) return "Bicgstab";
  return std::get<Variant>(parameters.param) == Variant::classic ? "ClassicCg" : "MergedCg";
}
INSTANTIATE_TEST_SUITE_P(Methods, MixedGpu,
                         testing::Values(std::tuple(Method::cg, Variant::classic),
                                         std::tuple(Method::cg, Variant::merged),
                                         std::tuple(Method::bicgstab, Variant::classic)),
                         name_of);

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
      const Outcome outcome = solve(mixed, x, mode);
      EXPECT_EQ(outcome.reason, Reason::rtol);
      EXPECT_EQ(outcome.exact_from, -1);
      EXPECT_GE(outcome.replacements, 5);
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
  SeveralProcesses system(*kernel, device.csr, exact.get(), device.defect.view());
  for (const Recording how : {Recording::replay, Recording::none}) {
    system.how = how;
    Array<double> x(a.rows);
    EXPECT_EQ(solve(system, x, CudaMode::automatic).reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, x), 1.01e-12);
  }
}

TEST_P(MixedGpu, SmallSystemsStayInDoubleInThePersistentKernel) {
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  const auto kernel = build_mixed_cuda_kernel("csr-vector", device.csr, device.stream);
  CudaKernelSystem mixed(*kernel, device.csr, exact.get(), device.defect.view()),
      full(*exact, device.csr);
  Array<double> x(a.rows), x_full(a.rows);
  const Outcome outcome = solve(mixed, x, CudaMode::persistent);
  EXPECT_EQ(outcome.reason, Reason::rtol);
  EXPECT_EQ(solve(full, x_full, CudaMode::persistent).iterations, outcome.iterations);
  EXPECT_EQ(x, x_full);
}

// Rounded to FP32 every block is [1 1; 1 1]: singular. The matrix itself has eigenvalues 2 and
// 1e-9.
TEST_P(MixedGpu, GoesOnInDoubleWhereFloatIsTooCoarse) {
  if (method == Method::bicgstab) GTEST_SKIP() << "a symmetric matrix, for CG";
  CsrMatrix<double> coarse;
  coarse.rows = coarse.cols = 64;
  for (std::int32_t i = 0; i < 64; ++i) {
    const std::int32_t first = i / 2 * 2;
    const double off = 1 - 1e-9;
    coarse.col_idx.insert(coarse.col_idx.end(), {first, first + 1});
    coarse.values.insert(coarse.values.end(), {i == first ? 1 : off, i == first ? off : 1});
    coarse.row_ptr.push_back(static_cast<std::int32_t>(coarse.values.size()));
  }
  a = coarse;
  b = random_vector<double>(a.rows);
  jacobi = {};
  rule.rtol = 1e-6;
  OnDevice device(a);
  const auto exact = build_cuda_kernel<double>("albus", device.csr, device.stream);
  const auto kernel = build_mixed_cuda_kernel("csr-vector", device.csr, device.stream);
  CudaKernelSystem system(*kernel, device.csr, exact.get(), device.defect.view());
  Array<double> x(a.rows);
  const Outcome outcome = solve(system, x, CudaMode::graph);
  EXPECT_EQ(outcome.reason, Reason::rtol);
  EXPECT_GE(outcome.exact_from, 0);
  EXPECT_LE(test::relative_residual(a, b, x), 1.01e-6);
}

}  // namespace
}  // namespace trireme::resident
