// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU with the cycle there: iterations of the host, in every mode, for one
// and for several right-hand sides, and with new values. Skips without a GPU.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "multigrid/on_gpu.hpp"
#include "solvers/gauss_seidel.hpp"
#include "solvers/gpu_block_solves.hpp"

namespace trireme::multigrid {
namespace {

using solvers::CudaMode;
using solvers::Method;
using solvers::PreconditionerSpec;
using solvers::Reason;
using solvers::Variant;
using test::generated;
using test::GivenOnGpu;
using test::random_rows;
using test::small_levels;
using trireme::test::GpuOptions;
using trireme::test::solve;
using trireme::test::solve_block_on_gpu;
using trireme::test::solve_on_gpu;
using trireme::test::Solved;

class SolveOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
  }
  static GpuOptions options_for(GivenOnGpu& given) {
    GpuOptions options;
    options.preconditioner.kind = PreconditionerSpec::Kind::given;
    options.preconditioner.given = &given;
    options.rule.rtol = 1e-9;
    return options;
  }
  static void expect_as_on_host(const CsrMatrix<double>& a, const Array<double>& b,
                                const GpuOptions& options) {
    const Solved here = solve(a, b, options);
    const Solved there = solve_on_gpu(a, b, options);
    EXPECT_EQ(here.outcome.reason, Reason::rtol);
    EXPECT_EQ(there.outcome.reason, Reason::rtol);
    EXPECT_NEAR(there.outcome.iterations, here.outcome.iterations, 1);
    EXPECT_LE(trireme::test::relative_residual(a, b, there.x), 1.0001e-9);
  }
};

TEST_F(SolveOnGpu, TakesTheIterationsOfTheHostInEveryMode) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 24);
  const CsrMatrix<double>& csr = a->blocks.local;
  const Array<double> b = random_rows(*a, 4);
  Hierarchy m(a, {}, small_levels());
  GivenOnGpu given(m);
  for (const Variant variant : {Variant::classic, Variant::single_reduction})
    for (const CudaMode mode : {CudaMode::graph, CudaMode::stepped}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(variant)) + " " +
                   std::to_string(static_cast<int>(mode)));
      GpuOptions options = options_for(given);
      options.variant = variant;
      options.mode = mode;
      expect_as_on_host(csr, b, options);
    }
}

TEST_F(SolveOnGpu, ServesTheOtherMethods) {
  const auto symmetric = generated(MPI_COMM_SELF, "poisson3d", 14);
  const auto convection = generated(MPI_COMM_SELF, "convection3d", 14);
  for (const Method method : {Method::minres, Method::bicgstab}) {
    const auto& a = method == Method::bicgstab ? convection : symmetric;
    Hierarchy m(a, {}, small_levels());
    GivenOnGpu given(m);
    GpuOptions options = options_for(given);
    options.method = method;
    expect_as_on_host(a->blocks.local, random_rows(*a, 4), options);
  }
}

// Batches that the host launches, as with several processes.
TEST_F(SolveOnGpu, ServesLoopsInBatches) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 16);
  const CsrMatrix<double>& csr = a->blocks.local;
  const Array<double> b = random_rows(*a, 4);
  Hierarchy m(a, {}, small_levels());
  GivenOnGpu given(m);
  const GpuOptions options = options_for(given);
  const Stream stream;
  const auto on_device = to_device(csr.view(), stream);
  const auto kernel = build_cuda_kernel<double>("sell", on_device.view(), stream);
  stream.synchronize();
  trireme::test::SeveralProcesses system(*kernel, on_device.view());
  for (const Recording how : {Recording::none, Recording::replay, Recording::loop}) {
    system.how = how;
    solvers::CudaSolver solver(system, Method::cg, Variant::classic, options.preconditioner,
                               {.mode = CudaMode::graph});
    const Solved solved = trireme::test::solve_by(solver, b, options);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_LE(trireme::test::relative_residual(csr, b, solved.x), 1.0001e-9);
  }
}

TEST_F(SolveOnGpu, SolvesSeveralRightHandSidesInLockstep) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy m(a, {}, small_levels());
  GivenOnGpu given(m);
  const GpuOptions options = options_for(given);
  std::vector<Array<double>> b;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) b.push_back(random_rows(*a, seed));
  b[2].assign(b[2].size(), 0.0);
  const std::vector<Solved> columns = solve_block_on_gpu(a->blocks.local, b, options);
  for (std::size_t j = 0; j < b.size(); ++j) {
    const Solved alone = solve(a->blocks.local, b[j], options);
    EXPECT_EQ(columns[j].outcome.reason, alone.outcome.reason) << j;
    EXPECT_NEAR(columns[j].outcome.iterations, alone.outcome.iterations, 1) << j;
  }
}

// The same solver, so that the recorded loop must be dropped.
TEST_F(SolveOnGpu, FollowsARenewalAndANewHierarchy) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 16);
  CsrMatrix<double>& csr = a->blocks.local;
  const Array<double> b = random_rows(*a, 4);
  Hierarchy m(a, {}, small_levels());
  GivenOnGpu given(m);
  const GpuOptions options = options_for(given);
  const Stream stream;
  const auto on_device = to_device(csr.view(), stream);
  const auto kernel = build_cuda_kernel<double>("csr-vector", on_device.view(), stream);
  stream.synchronize();
  solvers::CudaKernelSystem system(*kernel, on_device.view());
  solvers::CudaSolver solver(system, Method::cg, Variant::classic, options.preconditioner,
                             {.mode = CudaMode::graph});
  const Solved first = trireme::test::solve_by(solver, b, options);
  given.make();
  const Solved second = trireme::test::solve_by(solver, b, options);
  EXPECT_EQ(second.x, first.x);
  EXPECT_EQ(second.history, first.history);

  Array<double> values = csr.values;
  for (double& value : values) value *= 4;
  a->replace_values(values);
  m.renew();
  given.renew();
  const auto scaled = to_device(std::span<const double>(values), stream);
  kernel->update_values(scaled.view(), stream);
  copy_on_device(scaled.view(), on_device.values.span(), stream);
  stream.synchronize();
  solver.renew(options.preconditioner);
  const Solved third = trireme::test::solve_by(solver, b, options);
  EXPECT_EQ(third.outcome.iterations, first.outcome.iterations);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_EQ(4 * third.x[i], first.x[i]) << i;
}

TEST_F(SolveOnGpu, AnOperationWithoutAFormForGpusIsRefused) {
  const CsrMatrix<double> a = trireme::test::grid_matrix(8);
  trireme::test::GaussSeidel given(a);
  GpuOptions options;
  options.preconditioner.kind = PreconditionerSpec::Kind::given;
  options.preconditioner.given = &given;
  try {
    solve_on_gpu(a, Array<double>(a.rows, 1.0), options);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("works on CPUs only"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme::multigrid
