// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU has the host engine's solutions, numbers of iterations and reasons,
// with every executor.
#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "solvers/gpu_solves.hpp"

namespace trireme::solvers {
namespace {

using test::grid_matrix;
using test::jacobi;
using test::random_vector;
using test::Solved;

class ResidentGpu : public testing::TestWithParam<std::tuple<Method, Variant, CudaMode>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    std::tie(options.method, options.variant, options.mode) = GetParam();
    a = grid_matrix(60, symmetric() ? 0 : 2, 10);
    b = random_vector<double>(a.rows);
    d = test::diagonal_of(a);
    options.preconditioner = jacobi(d);
  }
  bool symmetric() const { return info_of(options.method).symmetric; }

  CsrMatrix<double> a;
  Array<double> b, d;
  test::GpuOptions options;
};

std::vector<ResidentGpu::ParamType> ways() {
  std::vector<ResidentGpu::ParamType> all;
  for_each_algorithm([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    for (const CudaMode mode : {CudaMode::graph, CudaMode::persistent, CudaMode::stepped})
      if (mode != CudaMode::persistent || !Algorithm::info.restarts)
        all.emplace_back(entry.method, Algorithm::variant, mode);
  });
  return all;
}

std::string name_of(const testing::TestParamInfo<ResidentGpu::ParamType>& parameters) {
  const auto [method, variant, mode] = parameters.param;
  std::string name(info_of(method).name);
  name.front() = static_cast<char>(std::toupper(name.front()));
  return name + (variant == Variant::single_reduction ? "SingleReduction" : "Classic") +
         (mode == CudaMode::graph        ? "Graph"
          : mode == CudaMode::persistent ? "Persistent"
                                         : "Stepped");
}
INSTANTIATE_TEST_SUITE_P(Methods, ResidentGpu, testing::ValuesIn(ways()), name_of);

TEST_P(ResidentGpu, AGuessThatIsWorseThanZeroIsLeftOutWhereTheRuleSaysSo) {
  const Solved from_zero = test::solve_on_gpu(a, b, options);
  options.x0 = random_vector<double>(a.rows, 3);
  for (double& value : options.x0) value *= 1e6;
  options.rule.drops_worse_guess = true;
  const Solved dropped = test::solve_on_gpu(a, b, options);
  EXPECT_EQ(dropped.outcome.reason, Reason::rtol);
  EXPECT_EQ(dropped.x, from_zero.x);
  EXPECT_EQ(dropped.history, from_zero.history);
  EXPECT_GT(dropped.outcome.dropped_norm, 1e4 * from_zero.history[0]);
}

// The GPU takes D^-1 from its CSR.
TEST_P(ResidentGpu, JacobiTakesTheMagnitudesOfTheDiagonal) {
  if (options.method != Method::minres) GTEST_SKIP() << "the method does not need them";
  for (std::int64_t i = 0; i < a.rows; i += 3)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) a.values[k] = -a.values[k];
  d = test::diagonal_of(a);
  options.preconditioner = jacobi(d);
  options.preconditioner.magnitudes = true;
  const Solved host = test::solve(a, b, options);
  ASSERT_EQ(host.outcome.reason, Reason::rtol);
  for (const bool from_device : {false, true}) {
    if (from_device) options.preconditioner.diagonal = {};
    const Solved gpu = test::solve_on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
    EXPECT_NEAR(static_cast<double>(gpu.outcome.iterations),
                static_cast<double>(host.outcome.iterations),
                0.05 * static_cast<double>(host.outcome.iterations));
  }
}

TEST_P(ResidentGpu, AgreesWithTheHost) {
  for (const auto& [preconditioned, through_l2] :
       {std::pair{true, false}, std::pair{false, false}, std::pair{false, true}}) {
    if (!preconditioned) options.preconditioner = {};
    options.through_l2 = through_l2;
    const Solved host = test::solve(a, b, options), gpu = test::solve_on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
    EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations,
                options.method == Method::cg ? 1 : 0.1 * host.outcome.iterations);
    EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
    EXPECT_EQ(gpu.history.size(), static_cast<std::size_t>(gpu.outcome.iterations) + 1);
    for (std::size_t k = 0; k < 10; ++k)
      EXPECT_NEAR(gpu.history[k], host.history[k], 1e-10 * host.history[0]);
  }
}

// A short test with several blocks of the persistent kernel, for tools that make a kernel a hundred
// times slower.
TEST_P(ResidentGpu, AgreesWithTheHostOnASmallGrid) {
  a = grid_matrix(34, symmetric() ? 0 : 2, 10);
  b = random_vector<double>(a.rows);
  d = test::diagonal_of(a);
  options.preconditioner = jacobi(d);
  options.rule.rtol = 1e-2;
  const Solved host = test::solve(a, b, options), gpu = test::solve_on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations, 1);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-2);
}

TEST_P(ResidentGpu, HugeRowsDoNotHideTheOthers) {
  std::vector<double> sizes = {1e5, 1e12};
  // BiCGStab(2) minimises over two vectors that such rows make one.
  if (options.method != Method::bicgstab2) sizes.push_back(1e30);
  for (const double size : sizes)
    for (const bool of_jacobi : {false, true}) {
      SCOPED_TRACE(size);
      const test::HugeRows system(34, symmetric() ? 0 : 2, size);
      options.preconditioner = jacobi(system.diagonal);
      options.row_scale = {};
      options.rule.rows = RowTest::both;
      const Solved hidden = test::solve_on_gpu(system.a, system.b, options);
      EXPECT_GT(system.relative_row_residual(hidden.x), 1e-7) << "the test shows nothing";
      options.row_scale = {true, system.inverse_sizes, of_jacobi};
      for (const RowTest rows : {RowTest::both, RowTest::only}) {
        options.rule.rows = rows;
        const Solved gpu = test::solve_on_gpu(system.a, system.b, options);
        const Solved host = test::solve(system.a, system.b, options);
        EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
        EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations,
                    1 + 0.1 * host.outcome.iterations);
        EXPECT_LE(system.relative_row_residual(gpu.x), 1.0001e-8);
        if (rows == RowTest::both) {
          EXPECT_LE(test::relative_residual(system.a, system.b, gpu.x), 1.0001e-8);
        }
      }
    }
}

// A recorded loop belongs to the norm that it was recorded for.
TEST_P(ResidentGpu, TheNormMayChangeBetweenSolves) {
  const test::HugeRows system(34, symmetric() ? 0 : 2, 1e5);
  const Stream stream;
  const auto on_device = to_device(system.a.view(), stream);
  const auto kernel = build_cuda_kernel<double>("csr-vector", on_device.view(), stream);
  stream.synchronize();
  CudaKernelSystem on_gpu(*kernel, on_device.view());
  options.preconditioner = {};  // whose residual the loop of another norm would take for R r
  CudaSolver solver(on_gpu, options.method, options.variant, options.preconditioner,
                    {.mode = options.mode});
  options.row_scale = {true, system.inverse_sizes, false};
  for (const RowTest rows : {RowTest::none, RowTest::both, RowTest::none, RowTest::only}) {
    options.rule.rows = rows;
    const Solved solved = test::solve_by(solver, system.b, options);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    const bool small = system.relative_row_residual(solved.x) <= 1.0001e-8;
    EXPECT_EQ(small, rows != RowTest::none);
    EXPECT_EQ(solved.history, test::solve_on_gpu(system.a, system.b, options).history);
  }
}

TEST_P(ResidentGpu, StartsFromAGuess) {
  options.x0 = random_vector<double>(a.rows, 5);
  const Solved gpu = test::solve_on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
}

TEST_P(ResidentGpu, GoesOnWhenTheTrueResidualFallsShort) {
  options.rule.rtol = 1e-18;
  const Solved gpu = test::solve_on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::breakdown);
  EXPECT_TRUE(gpu.outcome.stagnated);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1e-11);
}

// The persistent kernel keeps the inverse diagonal in shared memory where that is not one number.
TEST_P(ResidentGpu, TakesADiagonalThatIsNoLongerConstant) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  solvers::CudaKernelSystem system(*kernel, on_device.view());
  const Array<double> ones(a.rows, 1.0);
  solvers::CudaSolver solver(system, options.method, options.variant, jacobi(ones),
                             {.mode = options.mode});
  test::solve_by(solver, b, options);
  solver.renew(jacobi(d));
  const Solved renewed = test::solve_by(solver, b, options),
               made_anew = test::solve_on_gpu(a, b, options);
  EXPECT_EQ(renewed.outcome.iterations, made_anew.outcome.iterations);
  EXPECT_EQ(renewed.x, made_anew.x);
}

TEST_P(ResidentGpu, ReasonsAreTheHosts) {
  options.rule.max_iterations = 5;
  EXPECT_EQ(test::solve_on_gpu(a, b, options).outcome.reason, Reason::too_many_iterations);
  options.rule.limit_is_success = true;
  EXPECT_EQ(test::solve_on_gpu(a, b, options).outcome.reason, Reason::iterations_done);
  options.rule = {};
  const Array<double> zero(a.rows, 0.0);
  const Solved nothing = test::solve_on_gpu(a, zero, options);
  EXPECT_EQ(nothing.outcome.reason, Reason::atol);
  EXPECT_EQ(nothing.x, zero);
  Array<double> infinite = b;
  infinite[7] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(test::solve_on_gpu(a, infinite, options).outcome.reason, Reason::not_finite);
  CsrMatrix<double> broken = a;
  broken.values[100] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(test::solve_on_gpu(broken, b, options).outcome.reason, Reason::not_finite);
  options.preconditioner = {};
  EXPECT_LT(
      static_cast<int>(test::solve_on_gpu(test::path_laplacian(40), Array<double>(40, 1.0), options)
                           .outcome.reason),
      0);  // the system is singular and has no solution
  const Solved exact =
      test::solve_on_gpu(test::from_dense({{2, 0}, {0, 2}}), Array<double>{2, 6}, options);
  const bool restarts = info_of(options.method).restarts;
  if (options.method == Method::minres || restarts) {
    EXPECT_GT(static_cast<int>(exact.outcome.reason), 0);
    EXPECT_NEAR(exact.x[0], 1, 2e-15);
    EXPECT_NEAR(exact.x[1], 3, 2e-15);
  } else {
    EXPECT_EQ(exact.outcome.reason, Reason::atol);  // the residual is exactly zero
    EXPECT_EQ(exact.x, (Array<double>{1, 3}));
  }
  CsrMatrix<double> negative = a;
  for (double& value : negative.values) value = -value;
  EXPECT_EQ(test::solve_on_gpu(negative, b, options).outcome.reason, Reason::rtol);
  const CsrMatrix<double> indefinite = test::from_dense({{1, 0, 0}, {0, -1, 0}, {0, 0, -3}});
  if (options.method == Method::minres) {
    EXPECT_EQ(test::solve_on_gpu(indefinite, Array<double>{2, 1, 1}, options).outcome.reason,
              Reason::rtol);
    return;
  }
  const CsrMatrix<double> skew = test::from_dense({{0, 1}, {-1, 0}});
  const Reason on_skew = test::solve_on_gpu(skew, Array<double>{1, 1}, options).outcome.reason;
  if (restarts)
    EXPECT_GT(static_cast<int>(on_skew), 0);
  else
    EXPECT_EQ(on_skew,
              options.method == Method::cg ? Reason::indefinite_matrix : Reason::breakdown);
  if (options.method == Method::cg) {
    EXPECT_EQ(test::solve_on_gpu(indefinite, Array<double>{2, 1, 1}, options).outcome.reason,
              Reason::indefinite_matrix);
  }
}

TEST_P(ResidentGpu, ObeysATestOfTheCallersOwn) {
  options.rule.judged_by_caller = true;
  options.observer.iteration = [](const State& s, const Iterate&) {
    return s.iterations == 9 ? Reason::atol : Reason::running;
  };
  for (const std::int64_t limit : {1000, 9}) {  // the verdict outranks the limit
    options.rule.max_iterations = limit;
    const Solved gpu = test::solve_on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::atol);
    EXPECT_EQ(gpu.outcome.iterations, 9);
  }
}

TEST_P(ResidentGpu, StopsWhenAskedWithTheSolutionSoFar) {
  options.rule.norm = NormKind::none;
  options.rule.max_iterations = 20'000'000;
  options.observer.stop = [] { return true; };
  const Solved gpu = test::solve_on_gpu(a, b, options);
  EXPECT_TRUE(gpu.outcome.reason == Reason::interrupted || gpu.outcome.reason == Reason::atol ||
              gpu.outcome.reason == Reason::not_finite)
      << static_cast<int>(gpu.outcome.reason);
  EXPECT_LT(gpu.outcome.iterations, 1'000'000);
}

TEST_P(ResidentGpu, BlockJacobiTakesFewerIterationsThanJacobi) {
  if (options.mode == CudaMode::persistent)
    GTEST_SKIP() << "the persistent kernel takes pointwise preconditioners";
  const Solved by_jacobi = test::solve_on_gpu(a, b, options);
  const std::vector<std::int32_t> groups = test::row_groups(a.rows, {1, 2, 3, 4, 5, 6});
  for (const bool natural : {true, false}) {
    const test::BlocksOf blocks(a, 6, natural ? std::span<const std::int32_t>() : groups);
    options.preconditioner = blocks.spec;
    const Solved host = test::solve(a, b, options);
    for (const bool from_csr : {false, true}) {
      options.preconditioner.blocks = from_csr ? std::span<const double>() : blocks.spec.blocks;
      const Solved gpu = test::solve_on_gpu(a, b, options);
      EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
      EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations,
                  options.method == Method::cg ? 1 : 0.1 * host.outcome.iterations);
      EXPECT_LT(gpu.outcome.iterations, by_jacobi.outcome.iterations);
      EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
    }
  }
}

TEST_P(ResidentGpu, ChebyshevTakesLessThanHalfTheIterationsOfJacobi) {
  if (options.mode == CudaMode::persistent || !symmetric())
    GTEST_SKIP() << "the polynomial is for symmetric methods outside of the persistent kernel";
  const Solved by_jacobi = test::solve_on_gpu(a, b, options);
  options.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  const Solved gpu = test::solve_on_gpu(a, b, options), host = test::solve(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations, 2);
  EXPECT_LT(gpu.outcome.iterations * 2, by_jacobi.outcome.iterations);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
}

// The sizes need one block, a cluster of up to 16 blocks, and more than a cluster.
TEST_P(ResidentGpu, SolvesSystemsOfEverySize) {
  if (options.mode != CudaMode::persistent) GTEST_SKIP() << "a test of the persistent kernel";
  for (const std::int64_t n : {1, 2, 5, 16, 17, 33, 70, 100, 180, 300}) {
    a = grid_matrix(n, symmetric() ? 0 : 1);
    b = random_vector<double>(a.rows);
    d = test::diagonal_of(a);
    options.preconditioner = jacobi(d);
    for (const bool through_l2 : {false, true}) {
      options.through_l2 = through_l2;
      const Solved gpu = test::solve_on_gpu(a, b, options);
      EXPECT_GT(static_cast<int>(gpu.outcome.reason), 0) << n;
      EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8) << n;
    }
  }
}

TEST_P(ResidentGpu, SumsOverProcessesInBatchesAndSteps) {
  if (options.mode != CudaMode::graph)
    GTEST_SKIP() << "only a graph depends on the number of processes";
  const Solved alone = test::solve_on_gpu(a, b, options);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>("csr-vector", on_device.view(), stream);
  stream.synchronize();
  test::SeveralProcesses system(*kernel, on_device.view());
  for (const Recording how : {Recording::replay, Recording::none}) {
    system.how = how;
    CudaSolver solver(system, options.method, options.variant, options.preconditioner);
    const Solved gpu = test::solve_by(solver, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
    EXPECT_NEAR(gpu.outcome.iterations, alone.outcome.iterations, 2);
    EXPECT_EQ(gpu.history.size(), static_cast<std::size_t>(gpu.outcome.iterations) + 1);
    EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
  }
}

TEST_P(ResidentGpu, SolvesWithEveryKernel) {
  if (options.mode == CudaMode::persistent)
    GTEST_SKIP() << "the persistent kernel multiplies by itself";
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_double || !entry.deterministic) continue;
    options.gpu_kernel = entry.name;
    const Solved gpu = test::solve_on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol) << entry.name;
    EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8) << entry.name;
  }
}

}  // namespace
}  // namespace trireme::solvers
