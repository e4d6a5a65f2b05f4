// SPDX-License-Identifier: BSD-3-Clause
// On a GPU, a stopped solve goes on where it was, in every mode, and also from the host or to it.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "device/device.hpp"
#include "kernels/permuted_kernel.hpp"
#include "solvers/gpu_solves.hpp"
#include "solvers/permuted_system.hpp"
#include "solvers/pieces.hpp"

namespace trireme::solvers {
namespace {

using test::StoppedBy;
using Kind = PreconditionerSpec::Kind;

struct Loop {
  std::string name;
  Method method;
  Variant variant;
};
void PrintTo(const Loop& loop, std::ostream* out) { *out << loop.name; }

// Every algorithm of the list that leaves a direction.
std::vector<Loop> loops() {
  std::vector<Loop> all;
  for_each_algorithm([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    if (std::size(Algorithm::directions) == 0) return;
    const bool single = Algorithm::variant == Variant::single_reduction;
    all.push_back({std::string(Algorithm::info.name) + (single ? "SingleReduction" : ""),
                   entry.method, Algorithm::variant});
  });
  return all;
}

class GoingOnOnGpu : public testing::TestWithParam<Loop> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    stream_.emplace();
    a = test::grid_matrix(60, symmetric() ? 0 : 0.5, 50);
    for (double& value : a.values) value /= 3;
    b = test::random_vector<double>(a.rows, 3);
    diagonal = test::diagonal_of(a);
    defect = test::row_defect(a);
    on_device = to_device(a.view(), stream());
    defect_on_device = to_device(std::span<const float>(defect), stream());
    exact = build_cuda_kernel<double>("csr-vector", on_device.view(), stream());
    rounded = build_mixed_cuda_kernel("csr-vector", on_device.view(), stream());
    stream().synchronize();
    options.method = GetParam().method;
    options.rule.rtol = 1e-10;
    options.preconditioner = test::jacobi(diagonal);
  }

  bool symmetric() const { return info_of(GetParam().method).symmetric; }
  Stream& stream() { return *stream_; }

  auto maker(CudaSystem& system, CudaMode mode, bool through_l2 = false) {
    return [this, &system, mode, through_l2] {
      return std::make_unique<CudaSolver>(system, options.method, GetParam().variant,
                                          options.preconditioner,
                                          CudaOptions{.mode = mode, .through_l2 = through_l2});
    };
  }

  template <class MakeSolver>
  int expect_no_loss(const MakeSolver& make, std::int64_t piece, StoppedBy by = StoppedBy::limit) {
    const auto one = make();
    const test::Solved whole = test::solve_by(*one, b, options);
    EXPECT_EQ(whole.outcome.reason, Reason::rtol);
    const test::SolvedInPieces pieces = test::solve_in_pieces(make, b, options, piece, by);
    EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
    const std::int64_t iterations = whole.outcome.iterations;
    EXPECT_LE(pieces.outcome.iterations,
              options.method == Method::cg ? iterations + 2 : iterations * 5 / 4 + 5);
    EXPECT_LE(test::relative_residual(a, b, pieces.x), 1.01e-10);
    return pieces.pieces;
  }

  CsrMatrix<double> a;
  Array<double> b, diagonal;
  Array<float> defect;
  std::optional<Stream> stream_;  // empty without a GPU
  DeviceCsrMatrix<double> on_device;
  DeviceBuffer<float> defect_on_device;
  std::unique_ptr<CudaKernel<double>> exact, rounded;
  test::Options options;
};

TEST_P(GoingOnOnGpu, AsAGraph) {
  CudaKernelSystem system(*exact, on_device.view());
  for (const std::int64_t piece : {3, 40}) expect_no_loss(maker(system, CudaMode::graph), piece);
}

TEST_P(GoingOnOnGpu, FromThePersistentKernel) {
  CudaKernelSystem system(*exact, on_device.view());
  for (const bool through_l2 : {false, true}) {
    const auto make = maker(system, CudaMode::persistent, through_l2);
    for (const std::int64_t piece : {1, 40}) expect_no_loss(make, piece);
  }
}

TEST_P(GoingOnOnGpu, InANewSpaceTellingEachIterationOnce) {
  CudaKernelSystem system(*exact, on_device.view());
  for (const CudaMode mode : {CudaMode::graph, CudaMode::persistent, CudaMode::stepped}) {
    const test::SolvedInPieces pieces =
        test::solve_in_pieces(maker(system, mode), b, options, 60, StoppedBy::limit, true);
    EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
    EXPECT_GT(pieces.pieces, 1);
    EXPECT_EQ(std::ssize(pieces.history), pieces.outcome.iterations + 1);
    EXPECT_LE(test::relative_residual(a, b, pieces.x), 1.01e-10);
  }
}

// The host looks at the loop only every few milliseconds, so that the solve needs many iterations.
TEST_P(GoingOnOnGpu, AfterAStopByTheCaller) {
  if (!symmetric()) GTEST_SKIP() << "the matrix is for CG";
  a = test::grid_matrix(300, 0, 1e5);
  b = test::random_vector<double>(a.rows, 3);
  diagonal = test::diagonal_of(a);
  options.preconditioner = test::jacobi(diagonal);
  options.rule.max_iterations = 100'000;
  const auto there = to_device(a.view(), stream());
  const auto kernel = build_cuda_kernel<double>("csr-vector", there.view(), stream());
  stream().synchronize();
  CudaKernelSystem system(*kernel, there.view());
  EXPECT_GT(expect_no_loss(maker(system, CudaMode::graph), 0, StoppedBy::observer), 1);
  EXPECT_GE(expect_no_loss(maker(system, CudaMode::persistent), 0, StoppedBy::observer), 1);
}

TEST_P(GoingOnOnGpu, InBatchesAndByTheHost) {
  test::SeveralProcesses system(*exact, on_device.view());
  expect_no_loss(maker(system, CudaMode::graph), 17);
  system.how = Recording::none;
  expect_no_loss(maker(system, CudaMode::graph), 17);
}

TEST_P(GoingOnOnGpu, WithBlocksAndPolynomials) {
  CudaKernelSystem system(*exact, on_device.view());
  const test::BlocksOf blocks(a, 4);
  options.preconditioner = blocks.spec;
  expect_no_loss(maker(system, CudaMode::graph), 17);
  if (!symmetric()) GTEST_SKIP() << "the polynomial is for symmetric methods";
  options.preconditioner = test::jacobi(diagonal);
  options.preconditioner.kind = Kind::chebyshev;
  expect_no_loss(maker(system, CudaMode::graph), 7);
}

TEST_P(GoingOnOnGpu, InMixedPrecision) {
  CudaKernelSystem system(*rounded, on_device.view(), exact.get(), defect_on_device.view());
  expect_no_loss(maker(system, CudaMode::graph), 17);
}

TEST_P(GoingOnOnGpu, InARowOrderOfTheKernels) {
  a = test::irregular_matrix(4000, symmetric() ? 0 : 0.2);
  b = test::random_vector<double>(a.rows);
  diagonal = test::diagonal_of(a);
  options.preconditioner = test::jacobi(diagonal);
  const auto there = to_device(a.view(), stream());
  const auto kernel = build_cuda_kernel<double>("dasp", there.view(), stream());
  auto order = kernel->row_order(stream());
  const auto own =
      std::make_shared<PermutedKernel>(*kernel, there.view(), std::move(order), stream());
  stream().synchronize();
  PermutedSystem system(own);
  expect_no_loss(maker(system, CudaMode::automatic), 5);
}

// The host goes on with a solve that was stopped on a GPU, and a GPU with one of the host.
TEST_P(GoingOnOnGpu, FromDeviceToHostAndBack) {
  const auto host_kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem on_host(*host_kernel, a.rows);
  CudaKernelSystem on_gpu(*exact, on_device.view());
  options.rule.max_iterations = 30;
  const test::Solved whole = [&] {
    test::Options unlimited = options;
    unlimited.method = options.method;
    unlimited.variant = GetParam().variant;
    unlimited.rule.max_iterations = 10000;
    return test::solve(on_host, b, unlimited);
  }();
  const auto device = maker(on_gpu, CudaMode::automatic)();
  HostSolver host(on_host, options.method, Variant::classic, options.preconditioner);
  Array<double> x(a.rows);
  EXPECT_EQ(device->solve({b, x, true}, options.rule).iterations, 30);
  host.go_on(device->stopped());
  options.rule.max_iterations = 60;
  EXPECT_EQ(host.solve({b, x, false}, options.rule).iterations, 60);
  device->go_on(host.stopped());
  options.rule.max_iterations = 10000;
  const SolveResult last = device->solve({b, x, false}, options.rule);
  EXPECT_EQ(last.reason, Reason::rtol);
  EXPECT_LE(last.iterations, options.method == Method::cg ? whole.outcome.iterations + 2
                                                          : whole.outcome.iterations * 5 / 4 + 5);
  EXPECT_LE(test::relative_residual(a, b, x), 1.01e-10);
}

INSTANTIATE_TEST_SUITE_P(Resident, GoingOnOnGpu, testing::ValuesIn(loops()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace trireme::solvers
