// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy that is built and applied on a GPU is that of the host. Skips without a GPU.
#include "multigrid/cuda/device_hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "multigrid/cuda/device_forecast.hpp"
#include "multigrid/dense.hpp"
#include "multigrid/on_gpu.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::applied_on_gpu;
using test::generated;
using test::random_rows;
using test::small_levels;

using Matrix = std::shared_ptr<DistributedMatrix>;

class HierarchyOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
  }
  // The host estimates spectra with the stored values, which may be in FP32, and the GPU with those
  // in FP64.
  static constexpr double kEstimates = 1e-6;

  static void expect_same_cycle(const DeviceHierarchy& there, Hierarchy& host, const Matrix& a) {
    const Array<double> r = random_rows(*a, 3);
    test::expect_near(applied_on_gpu(there.cycle(), r), applied(host, r),
                      std::max(kEstimates, test::tolerance_of(host)));
  }
  static void expect_same_facts(const HierarchyFacts& there, const HierarchyFacts& host) {
    EXPECT_EQ(there.smoother, host.smoother);
    EXPECT_EQ(there.remark, host.remark);
    EXPECT_EQ(there.options, host.options);
    EXPECT_GT(there.bytes, 0);
    EXPECT_GT(there.set_up.total, 0);
    ASSERT_EQ(there.levels.size(), host.levels.size());
    for (std::size_t l = 0; l < there.levels.size(); ++l) {
      SCOPED_TRACE(l);
      const LevelFacts &d = there.levels[l], &h = host.levels[l];
      EXPECT_EQ(d.rows, h.rows);
      EXPECT_EQ(d.nnz, h.nnz);
      EXPECT_EQ(d.precision, h.precision);
      EXPECT_EQ(d.kernel == "dense inverse", h.kernel == "dense inverse") << d.kernel;
      EXPECT_NEAR(d.spectral_radius, h.spectral_radius, kEstimates * h.spectral_radius);
    }
  }
  static void expect_same(const Matrix& a, const NearNullspace& modes, const Options& options) {
    Hierarchy host(a, modes, options);
    const DeviceHierarchy there(a, modes, options);
    EXPECT_FALSE(there.built_on_host());
    expect_same_facts(there.facts(), host.facts());
    expect_same_cycle(there, host, a);
  }
  template <class Make>
  static std::string error_of(ExitCode code, const Make& make) {
    try {
      make();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }
};

TEST_F(HierarchyOnGpu, IsThatOfTheHostAlsoUnderASanitizer) {
  for (const char* kind : {"poisson3d", "convection3d", "diffusion3d"})
    for (const Precision precision : {Precision::full, Precision::mixed}) {
      SCOPED_TRACE(std::string(kind) + " " + std::string(to_string(precision)));
      Options options = small_levels();
      options.precision = precision;
      expect_same(generated(MPI_COMM_SELF, kind, 12), {}, options);
    }
}

TEST_F(HierarchyOnGpu, IsThatOfTheHostForEverySmoother) {
  const Matrix a = generated(MPI_COMM_SELF, "elasticity3d", 6, 3);
  const std::vector<double> values = test::rigid_body_modes(6);
  const NearNullspace modes{.values = {values.begin(), values.end()}, .width = 6};
  for (const Smoother smoother :
       {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi, Smoother::block_jacobi})
    for (const CycleKind cycle : {CycleKind::v, CycleKind::w}) {
      SCOPED_TRACE(to_string(smoother));
      Options options = small_levels();
      options.smoother = smoother;
      options.cycle = cycle;
      options.block_size = 3;
      expect_same(a, modes, options);
      expect_same(a, {}, options);
    }
}

TEST_F(HierarchyOnGpu, IsThatOfTheHostWhereTheCoarseningEndsEarly) {
  const Matrix a = generated(MPI_COMM_SELF, "poisson3d", 14);
  for (const int max_levels : {1, 2}) {
    Options options = small_levels();
    options.max_levels = max_levels;
    expect_same(a, {}, options);
  }
  expect_same(generated(MPI_COMM_SELF, "poisson3d", 1), {}, {});  // one row
  expect_same(generated(MPI_COMM_SELF, "poisson3d", 3), {}, {});  // a dense inverse alone
}

TEST_F(HierarchyOnGpu, StoresValuesBeyondFp32InDoublePrecision) {
  const Matrix a = generated(MPI_COMM_SELF, "poisson3d", 12);
  for (const double scale : {1e60, 1e-60}) {
    Array<double> values = test::values_of(*generated(MPI_COMM_SELF, "poisson3d", 12));
    for (double& value : values) value *= scale;
    a->replace_values(values);
    const DeviceHierarchy there(a, {}, small_levels());
    EXPECT_EQ(there.facts().levels.front().precision, Precision::full);
    expect_same(a, {}, small_levels());
  }
}

TEST_F(HierarchyOnGpu, TakesNewValuesAlsoUnderASanitizer) {
  const Matrix a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy host(a, {}, small_levels());
  DeviceHierarchy there(a, {}, small_levels());
  const CudaHierarchy* const cycle = &there.cycle();
  Array<double> values = test::values_of(*a);
  for (std::int64_t i = 0; i < a->local_rows(); ++i)
    for (auto k = a->blocks.local.row_ptr[i]; k < a->blocks.local.row_ptr[i + 1]; ++k)
      if (a->blocks.local.col_idx[k] == i) values[k] += 0.3;
  a->replace_values(values);
  host.renew();
  there.renew();
  EXPECT_EQ(&there.cycle(), cycle) << "the layouts stay";
  expect_same_facts(there.facts(), host.facts());
  expect_same_cycle(there, host, a);
  for (double& value : values) value *= 1e60;  // the layouts do not stay
  a->replace_values(values);
  host.renew();
  there.renew();
  expect_same_facts(there.facts(), host.facts());
  expect_same_cycle(there, host, a);
}

TEST_F(HierarchyOnGpu, IsCopiedFromTheHostToo) {
  const Matrix a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy host(a, {}, small_levels());
  DeviceHierarchy there(host);
  EXPECT_TRUE(there.built_on_host());
  expect_same_facts(there.facts(), host.facts());
  expect_same_cycle(there, host, a);
  Array<double> values = test::values_of(*a);
  for (double& value : values) value *= 3;
  a->replace_values(values);
  host.renew();
  there.renew(host);
  expect_same_facts(there.facts(), host.facts());
  expect_same_cycle(there, host, a);
}

TEST_F(HierarchyOnGpu, RefusesWhatTheHostRefusesByTheSameLine) {
  const Matrix negative = generated(MPI_COMM_SELF, "poisson3d", 12);
  const Matrix zero_row = generated(MPI_COMM_SELF, "poisson3d", 4);
  const Matrix infinite = generated(MPI_COMM_SELF, "poisson3d", 12);
  const auto change_row = [](DistributedMatrix& a, std::int64_t row, double factor) {
    Array<double> values = test::values_of(a);
    const auto& row_ptr = a.blocks.local.row_ptr;
    for (auto k = row_ptr[row]; k < row_ptr[row + 1]; ++k) values[k] *= factor;
    a.replace_values(values);
  };
  change_row(*negative, 77, -1);
  change_row(*zero_row, 5, 0);
  change_row(*infinite, 78, 1e308);
  for (const Matrix& a : {negative, zero_row, infinite}) {
    const std::string line = error_of(ExitCode::input, [&] { Hierarchy(a, {}, small_levels()); });
    EXPECT_EQ(error_of(ExitCode::input, [&] { DeviceHierarchy(a, {}, small_levels()); }), line);
  }
  Options options;
  options.degree = 9;
  const std::string line = error_of(ExitCode::usage, [&] { Hierarchy(negative, {}, options); });
  EXPECT_EQ(error_of(ExitCode::usage, [&] { DeviceHierarchy(negative, {}, options); }), line);
}

TEST_F(HierarchyOnGpu, TakesNoMoreThanItsForecast) {
  for (const auto& [kind, n, block] :
       {std::tuple{"poisson3d", 30, 1}, std::tuple{"poisson27", 24, 1},
        std::tuple{"poisson2d", 150, 1}, std::tuple{"elasticity3d", 12, 3}}) {
    SCOPED_TRACE(kind);
    const Matrix a = generated(MPI_COMM_SELF, kind, n, block);
    Options options;
    options.block_size = block;
    const DeviceHierarchy there(a, {}, options);
    const DeviceForecast forecast = forecast_on_device(*a, 0, options);
    EXPECT_LE(there.facts().bytes, forecast.built_there);
    EXPECT_LE(there.cycle().bytes(), forecast.copied_there);
    EXPECT_LT(forecast.copied_there, forecast.built_there);
  }
}

TEST_F(HierarchyOnGpu, IsBuiltOnTheHostOrRefusedWhereTheGpuIsFull) {
  constexpr std::int64_t kPiece = 32 << 20;
  const Matrix a = generated(MPI_COMM_SELF, "poisson3d", 100);
  EXPECT_TRUE(has_room_for_set_up(*a, 0, {}));
  const DeviceForecast forecast = forecast_on_device(*a, 0, {});
  const Stream stream;
  std::vector<DeviceBuffer<char>> taken;
  const auto leave = [&](std::int64_t rest) {
    for (std::int64_t more = kPiece; more >= kPiece;) {
      more = static_cast<std::int64_t>(device_memory().free_bytes) - rest;
      if (more > 0) taken.emplace_back(std::max(more / 2, std::min(more, kPiece)), stream);
    }
  };
  leave((forecast.copied_there + forecast.built_there) / 2);
  EXPECT_FALSE(has_room_for_set_up(*a, 0, {}));
  leave(forecast.copied_there / 2);
  const std::string line = error_of(ExitCode::resource, [&] { has_room_for_set_up(*a, 0, {}); });
  EXPECT_NE(line.find("GiB of GPU memory"), std::string::npos) << line;
}

}  // namespace
}  // namespace trireme::multigrid
