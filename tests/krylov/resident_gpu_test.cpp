// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU: the host engine's answers, counts and reasons, by every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kernels/permutation.hpp"
#include "kernels/permuted_kernel.hpp"
#include "kernels/registry.hpp"
#include "krylov/resident/cuda_kernel_system.hpp"
#include "krylov/resident/host_kernel_system.hpp"
#include "krylov/resident/permuted_system.hpp"
#include "krylov/resident_systems.hpp"

namespace trireme::resident {
namespace {

using test::grid_matrix;
using test::random_vector;

struct Solved {
  Outcome outcome;
  Array<double> x;
  std::vector<double> history;
};

struct Options {
  Method method = Method::cg;
  Variant variant = Variant::classic;
  CudaMode mode = CudaMode::graph;
  PreconditionerSpec preconditioner;
  Tolerances rule;
  Observer observer;
  Array<double> x0;
  std::string kernel = "csr-vector";
  bool through_l2 = false;
};

Observer recording(const Options& options, Solved& into) {
  Observer observer = options.observer;
  observer.iteration = [&](const State& s, const Iterate& iterate) {
    EXPECT_EQ(s.iterations, static_cast<std::int64_t>(into.history.size()));
    into.history.push_back(s.norm);
    return options.observer.iteration ? options.observer.iteration(s, iterate) : Reason::running;
  };
  return observer;
}

Solved on_host(const CsrMatrix<double>& a, std::span<const double> b, const Options& o) {
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, o.method, o.variant, o.preconditioner);
  Solved result;
  result.x = o.x0.empty() ? Array<double>(a.rows) : o.x0;
  const Observer observer = recording(o, result);
  result.outcome = solver.solve({b, result.x, o.x0.empty()}, o.rule, observer);
  return result;
}

// Twice: the second solve must repeat the first one's bits.
Solved on_gpu(const CsrMatrix<double>& a, std::span<const double> b, const Options& o) {
  const Stream stream;
  const auto row_ptr = to_device(std::span<const std::int32_t>(a.row_ptr), stream);
  const auto col_idx = to_device(std::span<const std::int32_t>(a.col_idx), stream);
  const auto values = to_device(std::span<const double>(a.values), stream);
  const DeviceCsr<double> csr{a.rows,         a.cols,         a.nnz(),
                              row_ptr.view(), col_idx.view(), values.view()};
  const auto kernel = build_cuda_kernel<double>(o.kernel, csr, stream);
  stream.synchronize();
  CudaKernelSystem system(*kernel, csr);
  CudaSolver solver(system, o.method, o.variant, o.preconditioner,
                    {.mode = o.mode, .through_l2 = o.through_l2});
  Solved results[2];
  for (Solved& result : results) {
    result.x = o.x0.empty() ? random_vector<double>(a.rows, 77) : o.x0;
    const Observer observer = recording(o, result);
    result.outcome = solver.solve({b, result.x, o.x0.empty()}, o.rule, observer);
  }
  if (!o.observer.stop) {
    EXPECT_EQ(results[0].history, results[1].history);
    EXPECT_TRUE(std::equal(results[0].x.begin(), results[0].x.end(), results[1].x.begin(),
                           [](double p, double q) { return p == q || (p != p && q != q); }));
  }
  return results[1];
}

PreconditionerSpec jacobi(std::span<const double> diagonal) {
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::jacobi;
  spec.diagonal = diagonal;
  return spec;
}

class ResidentGpu : public testing::TestWithParam<std::tuple<Method, Variant, CudaMode>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    std::tie(options.method, options.variant, options.mode) = GetParam();
    a = grid_matrix(60, options.method == Method::bicgstab ? 2 : 0, 10);
    b = random_vector<double>(a.rows);
    d = test::diagonal_of(a);
    options.preconditioner = jacobi(d);
  }
  CsrMatrix<double> a;
  Array<double> b, d;
  Options options;
};

std::string name_of(const testing::TestParamInfo<ResidentGpu::ParamType>& parameters) {
  const auto [method, variant, mode] = parameters.param;
  return std::string(method == Method::cg ? "Cg" : "Bicgstab") +
         (variant == Variant::merged ? "Merged" : "Classic") +
         (mode == CudaMode::graph        ? "Graph"
          : mode == CudaMode::persistent ? "Persistent"
                                         : "Stepped");
}
INSTANTIATE_TEST_SUITE_P(Cg, ResidentGpu,
                         testing::Combine(testing::Values(Method::cg),
                                          testing::Values(Variant::classic, Variant::merged),
                                          testing::Values(CudaMode::graph, CudaMode::persistent,
                                                          CudaMode::stepped)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(
    Bicgstab, ResidentGpu,
    testing::Combine(testing::Values(Method::bicgstab), testing::Values(Variant::classic),
                     testing::Values(CudaMode::graph, CudaMode::persistent, CudaMode::stepped)),
    name_of);

TEST_P(ResidentGpu, AgreesWithTheHost) {
  for (const auto& [preconditioned, through_l2] :
       {std::pair{true, false}, std::pair{false, false}, std::pair{false, true}}) {
    if (!preconditioned) options.preconditioner = {};
    options.through_l2 = through_l2;
    const Solved host = on_host(a, b, options), gpu = on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
    EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations,
                options.method == Method::cg ? 1 : 0.1 * host.outcome.iterations);
    EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
    EXPECT_EQ(gpu.history.size(), static_cast<std::size_t>(gpu.outcome.iterations) + 1);
    for (std::size_t k = 0; k < 10; ++k)
      EXPECT_NEAR(gpu.history[k], host.history[k], 1e-10 * host.history[0]);
  }
}

// Short, but with several blocks of the persistent kernel: for tools that slow a kernel down a
// hundredfold.
TEST_P(ResidentGpu, AgreesWithTheHostOnASmallGrid) {
  a = grid_matrix(34, options.method == Method::bicgstab ? 2 : 0, 10);
  b = random_vector<double>(a.rows);
  d = test::diagonal_of(a);
  options.preconditioner = jacobi(d);
  options.rule.rtol = 1e-2;
  const Solved host = on_host(a, b, options), gpu = on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations, 1);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-2);
}

TEST_P(ResidentGpu, StartsFromAGuess) {
  options.x0 = random_vector<double>(a.rows, 5);
  const Solved gpu = on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
}

TEST_P(ResidentGpu, GoesOnWhenTheTrueResidualFallsShort) {
  options.rule.rtol = 1e-18;
  const Solved gpu = on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::breakdown);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1e-11);
}

TEST_P(ResidentGpu, ReasonsAreTheHosts) {
  options.rule.max_iterations = 5;
  EXPECT_EQ(on_gpu(a, b, options).outcome.reason, Reason::too_many_iterations);
  options.rule.limit_is_success = true;
  EXPECT_EQ(on_gpu(a, b, options).outcome.reason, Reason::iterations_done);
  options.rule = {};
  const Array<double> zero(a.rows, 0.0);
  const Solved nothing = on_gpu(a, zero, options);
  EXPECT_EQ(nothing.outcome.reason, Reason::atol);
  EXPECT_EQ(nothing.x, zero);
  Array<double> infinite = b;
  infinite[7] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(on_gpu(a, infinite, options).outcome.reason, Reason::not_finite);
  CsrMatrix<double> broken = a;
  broken.values[100] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(on_gpu(broken, b, options).outcome.reason, Reason::not_finite);
  options.preconditioner = {};
  EXPECT_LT(static_cast<int>(
                on_gpu(test::path_laplacian(40), Array<double>(40, 1.0), options).outcome.reason),
            0);  // singular, without a solution
  const Solved exact = on_gpu(test::from_dense({{2, 0}, {0, 2}}), Array<double>{2, 6}, options);
  EXPECT_EQ(exact.outcome.reason, Reason::atol);  // the residual is exactly zero
  EXPECT_EQ(exact.x, (Array<double>{1, 3}));
  CsrMatrix<double> negative = a;
  for (double& value : negative.values) value = -value;
  EXPECT_EQ(on_gpu(negative, b, options).outcome.reason, Reason::rtol);
  const CsrMatrix<double> skew = test::from_dense({{0, 1}, {-1, 0}});
  EXPECT_EQ(on_gpu(skew, Array<double>{1, 1}, options).outcome.reason,
            options.method == Method::cg ? Reason::indefinite_matrix : Reason::breakdown);
  if (options.method == Method::cg) {
    const CsrMatrix<double> indefinite = test::from_dense({{1, 0, 0}, {0, -1, 0}, {0, 0, -3}});
    EXPECT_EQ(on_gpu(indefinite, Array<double>{2, 1, 1}, options).outcome.reason,
              Reason::indefinite_matrix);
  }
}

TEST_P(ResidentGpu, ObeysATestOfTheCallersOwn) {
  options.rule.judged_by_caller = true;
  options.observer.iteration = [](const State& s, const Iterate&) {
    return s.iterations == 9 ? Reason::atol : Reason::running;
  };
  const Solved gpu = on_gpu(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::atol);
  EXPECT_EQ(gpu.outcome.iterations, 9);
}

TEST_P(ResidentGpu, StopsWhenAskedWithTheSolutionSoFar) {
  options.rule.norm = NormKind::none;
  options.rule.max_iterations = 20'000'000;
  options.observer.stop = [] { return true; };
  const Solved gpu = on_gpu(a, b, options);
  EXPECT_TRUE(gpu.outcome.reason == Reason::interrupted || gpu.outcome.reason == Reason::atol ||
              gpu.outcome.reason == Reason::not_finite)
      << static_cast<int>(gpu.outcome.reason);
  EXPECT_LT(gpu.outcome.iterations, 1'000'000);
}

TEST_P(ResidentGpu, BlockJacobiWorksInside) {
  if (options.mode == CudaMode::persistent)
    GTEST_SKIP() << "the persistent kernel takes pointwise preconditioners";
  const Solved by_jacobi = on_gpu(a, b, options);
  options.preconditioner = {};
  options.preconditioner.kind = PreconditionerSpec::Kind::blocks;
  options.preconditioner.block_size = 6;
  std::vector<std::int32_t> groups{0};  // of 1, 2, .. 6, 1, .. rows
  while (groups.back() < a.rows)
    groups.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(
        a.rows, groups.back() + 1 + static_cast<std::int64_t>(groups.size()) % 6)));
  for (const bool natural : {true, false}) {
    options.preconditioner.group_starts = natural ? std::span<const std::int32_t>() : groups;
    const Array<double> blocks = test::blocks_of(a, block_rows(options.preconditioner, a.rows));
    options.preconditioner.blocks = blocks;
    const Solved host = on_host(a, b, options);
    for (const bool from_csr : {false, true}) {
      options.preconditioner.blocks = from_csr ? std::span<const double>() : blocks;
      const Solved gpu = on_gpu(a, b, options);
      EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
      EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations,
                  options.method == Method::cg ? 1 : 0.1 * host.outcome.iterations);
      EXPECT_LT(gpu.outcome.iterations, by_jacobi.outcome.iterations);
      EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
    }
  }
}

TEST_P(ResidentGpu, ChebyshevPolynomialWorksInside) {
  if (options.mode == CudaMode::persistent || options.method == Method::bicgstab)
    GTEST_SKIP() << "the polynomial is for CG outside of the persistent kernel";
  const Solved by_jacobi = on_gpu(a, b, options);
  options.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  const Solved gpu = on_gpu(a, b, options), host = on_host(a, b, options);
  EXPECT_EQ(gpu.outcome.reason, Reason::rtol);
  EXPECT_NEAR(gpu.outcome.iterations, host.outcome.iterations, 2);
  EXPECT_LT(gpu.outcome.iterations * 2, by_jacobi.outcome.iterations);
  EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8);
}

// From one block to a cluster of 16, to more than a cluster holds.
TEST_P(ResidentGpu, SolvesSystemsOfEverySize) {
  if (options.mode != CudaMode::persistent) GTEST_SKIP() << "a test of the persistent kernel";
  for (const std::int64_t n : {1, 2, 5, 16, 17, 33, 70, 100, 180, 300}) {
    a = grid_matrix(n, options.method == Method::bicgstab ? 1 : 0);
    b = random_vector<double>(a.rows);
    d = test::diagonal_of(a);
    options.preconditioner = jacobi(d);
    for (const bool through_l2 : {false, true}) {
      options.through_l2 = through_l2;
      const Solved gpu = on_gpu(a, b, options);
      EXPECT_GT(static_cast<int>(gpu.outcome.reason), 0) << n;
      EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8) << n;
    }
  }
}

// The way of several processes, with one: sums that are already complete.
class SeveralProcesses : public CudaKernelSystem {
 public:
  SeveralProcesses(CudaKernel<double>& kernel, const DeviceCsr<double>& csr, Recording recording)
      : CudaKernelSystem(kernel, csr), recording_(recording) {}
  std::size_t dot_partials() const override { return 0; }
  int processes() const override { return 2; }
  Recording recording() const override { return recording_; }

 private:
  Recording recording_;
};

TEST_P(ResidentGpu, SumsOverProcessesInBatchesAndSteps) {
  if (options.mode != CudaMode::graph)
    GTEST_SKIP() << "one process or several is a matter of graphs";
  const Solved alone = on_gpu(a, b, options);
  const Stream stream;
  const auto row_ptr = to_device(std::span<const std::int32_t>(a.row_ptr), stream);
  const auto col_idx = to_device(std::span<const std::int32_t>(a.col_idx), stream);
  const auto values = to_device(std::span<const double>(a.values), stream);
  const DeviceCsr<double> csr{a.rows,         a.cols,         a.nnz(),
                              row_ptr.view(), col_idx.view(), values.view()};
  const auto kernel = build_cuda_kernel<double>("csr-vector", csr, stream);
  stream.synchronize();
  for (const Recording how : {Recording::replay, Recording::none}) {
    SeveralProcesses system(*kernel, csr, how);
    CudaSolver solver(system, options.method, options.variant, options.preconditioner);
    Solved gpu;
    gpu.x = Array<double>(a.rows);
    const Observer observer = recording(options, gpu);
    gpu.outcome = solver.solve({b, gpu.x, true}, options.rule, observer);
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
    options.kernel = entry.name;
    const Solved gpu = on_gpu(a, b, options);
    EXPECT_EQ(gpu.outcome.reason, Reason::rtol) << entry.name;
    EXPECT_LE(test::relative_residual(a, b, gpu.x), 1.0001e-8) << entry.name;
  }
}

// In the order of a kernel that has one of its own.
class ResidentPermuted : public testing::TestWithParam<std::tuple<const char*, Method>> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
    const auto [kernel, method] = GetParam();
    options.kernel = kernel;
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
  // With the values of `now` on the pattern of `a`, given to the kernel after it was built.
  Solved permuted(const CsrMatrix<double>& now) {
    const Stream stream;
    const auto before = to_device(a.view(), stream);
    const auto kernel = build_cuda_kernel<double>(options.kernel, before.view(), stream);
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
    Solved result;
    for (int time = 0; time < 2; ++time) {
      result = {};
      result.x = options.x0.empty() ? random_vector<double>(a.rows, 77) : options.x0;
      const Observer observer = recording(options, result);
      result.outcome = solver.solve({b, result.x, options.x0.empty()}, options.rule, observer);
    }
    return result;
  }
  void expect_same(const Solved& there, const Solved& here) {
    EXPECT_EQ(there.outcome.reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, there.x), 1.0001e-10);
    EXPECT_NEAR(there.outcome.iterations, here.outcome.iterations,
                (options.method == Method::cg ? 0.02 : 0.1) * here.outcome.iterations);
    const std::size_t comparable = options.method == Method::cg ? 8 : 3;
    ASSERT_GT(here.history.size(), comparable);
    for (std::size_t k = 0; k < comparable; ++k)  // sums in another order
      EXPECT_NEAR(there.history[k], here.history[k], 1e-11 * here.history[0]) << k;
    Array<double> difference(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) difference[i] = there.x[i] - here.x[i];
    EXPECT_LE(test::norm(difference), 1e-6 * test::norm(here.x));
  }
  CsrMatrix<double> a;
  Array<double> b, d;
  Options options;
};
INSTANTIATE_TEST_SUITE_P(, ResidentPermuted,
                         testing::Combine(testing::Values("dasp", "teb"),
                                          testing::Values(Method::cg, Method::bicgstab)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) +
                                  (std::get<1>(tested.param) == Method::cg ? "Cg" : "Bicgstab");
                         });

TEST_P(ResidentPermuted, GivesTheCallersSolution) {
  expect_same(permuted(a), on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, StartsFromTheCallersGuess) {
  options.x0 = random_vector<double>(a.rows, 5);
  expect_same(permuted(a), on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, SolvesOnTheDeviceWithoutAPreconditioner) {
  options.preconditioner = {};
  options.rule.max_iterations = 100'000;
  expect_same(permuted(a), on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, FollowsNewValues) {
  CsrMatrix<double> now = a;
  for (std::int64_t i = 0; i < a.rows; ++i)  // D A D stays what it was, symmetric or not
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      now.values[k] *= (1 + 0.1 * (i % 5)) * (1 + 0.1 * (a.col_idx[k] % 5));
  d = test::diagonal_of(now);
  options.preconditioner = jacobi(d);
  const Solved there = permuted(now);
  a = now;
  expect_same(there, on_gpu(a, b, options));
}

TEST_P(ResidentPermuted, BlockJacobiIsRefused) {
  options.preconditioner = {};
  options.preconditioner.kind = PreconditionerSpec::Kind::blocks;
  options.preconditioner.block_size = 2;
  const Array<double> blocks(2 * a.rows, 1.0);
  options.preconditioner.blocks = blocks;
  EXPECT_THROW(permuted(a), Error);
}

TEST(ResidentPermutedChebyshev, BoundsTheSameSpectrum) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  select_device();
  const CsrMatrix<double> a = test::irregular_matrix(4000);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options options;
  options.kernel = "dasp";
  options.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  options.preconditioner.diagonal = d;
  const Solved here = on_gpu(a, b, options);
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>("dasp", on_device.view(), stream);
  const auto own = std::make_shared<PermutedKernel>(*kernel, on_device.view(),
                                                    kernel->row_order(stream), stream);
  PermutedSystem system(own);
  CudaSolver solver(system, Method::cg, Variant::classic, options.preconditioner);
  Array<double> x(a.rows);
  const Outcome outcome = solver.solve({b, x, true}, options.rule, {});
  EXPECT_EQ(outcome.reason, Reason::rtol);
  EXPECT_NEAR(outcome.iterations, here.outcome.iterations, 1);
  EXPECT_LE(test::relative_residual(a, b, x), 1.0001e-8);
}

}  // namespace
}  // namespace trireme::resident
