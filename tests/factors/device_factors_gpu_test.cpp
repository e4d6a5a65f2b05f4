// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors made and applied by a GPU, compared with those of the host.
#include "factors/cuda/device_factors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "factors/cuda/device_numbers.hpp"
#include "factors/gpu_matrices.hpp"
#include "factors/numbers.hpp"
#include "solvers/fp32_range.hpp"
#include "support/same_bits.hpp"

namespace trireme::factors {
namespace {

using test::NamedMatrix;
using trireme::test::random_vector;
using trireme::test::same_bits;

bool fits_fp32(const FactorPattern& pattern, const FactorNumbers& numbers) {
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e)
      if (e != pattern.diagonal[i] && !is_normal_in_fp32(numbers.values[e])) return false;
  return true;
}

// Complete for all streams.
DeviceCsrMatrix<double> uploaded(const CsrMatrix<double>& a) {
  const Stream stream;
  DeviceCsrMatrix<double> on_device = trireme::to_device(a.view(), stream);
  stream.synchronize();
  return on_device;
}

TEST(DeviceFactors, HaveTheNumbersOfTheHost) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const Stream stream;
  for (const NamedMatrix& m : test::matrices()) {
    SCOPED_TRACE(m.name);
    const FactorPattern pattern = make_pattern(m.a.view(), m.choice);
    const FactorNumbers expected = make_numbers(pattern, m.a.view(), m.definite);
    const auto a = uploaded(m.a);
    const DevicePattern on_device = to_device(pattern, a.view(), stream);
    const DeviceNumbers made = make_numbers_on_device(on_device, a.view(), m.definite, stream);
    EXPECT_EQ(made.replaced, expected.replaced);
    EXPECT_EQ(made.shift, expected.shift);
    EXPECT_EQ(made.in_fp32, fits_fp32(pattern, expected));
    const Array<double> values = to_host(made.values.view(), stream);
    EXPECT_TRUE(same_bits(values, expected.values));
    EXPECT_TRUE(m.name != "zeros" || made.replaced > 0);
    EXPECT_TRUE(m.name != "indefinite" || made.shift > 0);
    EXPECT_TRUE(m.name != "beyond FP32" || !made.in_fp32);
  }
}

// z by rows on the host, and how far from it another order of sums may be.
struct Solved {
  Array<double> z, bound;
};

Solved solved(const FactorPattern& p, const FactorNumbers& numbers, const Array<double>& r) {
  const bool in_fp32 = fits_fp32(p, numbers);
  const auto value = [&](std::int32_t e) {
    return in_fp32 ? static_cast<double>(static_cast<float>(numbers.values[e])) : numbers.values[e];
  };
  Array<double> y(p.rows), size(p.rows), error(p.rows);
  const auto sweep = [&](std::int64_t i, std::int32_t first, std::int32_t last) {
    for (std::int32_t e = first; e < last; ++e) {
      const std::int32_t k = p.col_idx[e];
      y[i] -= value(e) * y[k];
      size[i] += std::abs(value(e)) * size[k];
      error[i] += std::abs(value(e)) * error[k];
    }
    error[i] += (last - first + 4) * 0x1p-52 * size[i];
  };
  for (std::int64_t i = 0; i < p.rows; ++i) {
    y[i] = r[p.row_of(i)];
    size[i] = std::abs(y[i]);
    error[i] = 0;
    sweep(i, p.row_ptr[i], p.diagonal[i]);
  }
  for (std::int64_t i = p.rows - 1; i >= 0; --i) {
    const double inverse = numbers.values[p.diagonal[i]];
    y[i] *= inverse;
    size[i] *= std::abs(inverse);
    error[i] *= std::abs(inverse);
    sweep(i, p.diagonal[i] + 1, p.row_ptr[i + 1]);
  }
  Solved result{Array<double>(p.rows), Array<double>(p.rows)};
  for (std::int64_t i = 0; i < p.rows; ++i) {
    result.z[p.row_of(i)] = y[i];
    result.bound[p.row_of(i)] = 2 * error[i];
  }
  return result;
}

Array<double> applied(DeviceFactors& factors, const Array<double>& r) {
  const Stream stream;
  const DeviceBuffer<double> on_r = trireme::to_device(std::span<const double>(r), stream);
  const DeviceBuffer<double> z(r.size(), stream);
  fill_nan(z.span(), stream);
  factors.enqueue(on_r.view(), z.span(), stream);
  return to_host(z.view(), stream);
}

void expect_within(const Array<double>& z, const Solved& expected) {
  for (std::size_t i = 0; i < z.size(); ++i)
    ASSERT_TRUE(std::abs(z[i] - expected.z[i]) <= expected.bound[i] ||
                !std::isfinite(expected.bound[i]))
        << "row " << i << ": " << z[i] << " instead of " << expected.z[i];
}

// The last one has more blocks than a GPU runs at a time.
const std::vector<SweepOptions> kWays = {{},
                                         {.kernel = SweepKernel::one_block},
                                         {.kernel = SweepKernel::one_block, .threads = 32},
                                         {.kernel = SweepKernel::grid},
                                         {.kernel = SweepKernel::grid, .warps = 4},
                                         {.kernel = SweepKernel::grid, .warps = 1 << 20}};

TEST(DeviceFactors, SolveAsTheHost) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  for (const NamedMatrix& m : test::matrices()) {
    SCOPED_TRACE(m.name);
    const FactorPattern pattern = make_pattern(m.a.view(), m.choice);
    const FactorNumbers numbers = make_numbers(pattern, m.a.view(), m.definite);
    const auto a = uploaded(m.a);
    const Array<double> r = random_vector<double>(m.a.rows);
    const Solved expected = solved(pattern, numbers, r);
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      SCOPED_TRACE(way);
      const auto factors = DeviceFactors::make(pattern, a.view(), m.definite, kWays[way]);
      const Array<double> z = applied(*factors, r);
      expect_within(z, expected);
      EXPECT_TRUE(same_bits(applied(*factors, r), z));
    }
  }
}

// A NaN comes to the rows that need it, and no row waits for a number that is NaN.
TEST(DeviceFactors, PassNaNOn) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const CsrMatrix<double> host = test::generated("poisson3d", 6);
  const auto a = uploaded(host);
  const FactorPattern pattern = make_pattern(host.view(), {});
  Array<double> r(host.rows, 1.0);
  r[0] = std::bit_cast<double>(~std::uint64_t{0});
  for (const SweepOptions& way : kWays) {
    const Array<double> z = applied(*DeviceFactors::make(pattern, a.view(), false, way), r);
    for (const double number : z) EXPECT_TRUE(std::isnan(number));
  }
}

// New values leave the range of FP32 and come back into it.
TEST(DeviceFactors, RenewTheirNumbers) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const CsrMatrix<double> first = test::generated("diffusion3d", 9);
  const CsrMatrix<double> other =
      test::scaled(first, [](std::int64_t i) { return 1 + 0.1 * static_cast<double>(i % 7); });
  const CsrMatrix<double> beyond =
      test::scaled(first, [](std::int64_t i) { return i % 2 == 0 ? 0x1p+100 : 0x1p-100; });
  const FactorPattern pattern = make_pattern(first.view(), {.order = RowOrder::colours});
  const Array<double> r = random_vector<double>(first.rows);
  for (const SweepOptions& way : kWays) {
    const auto factors = DeviceFactors::make(pattern, uploaded(first).view(), true, way);
    EXPECT_TRUE(factors->facts().in_fp32);
    const Array<double> before = applied(*factors, r);
    const std::uint64_t version = factors->version();
    const auto renewed = [&](const CsrMatrix<double>& a) {
      const auto on_device = uploaded(a);
      factors->renew(on_device.view());
      expect_within(applied(*factors, r),
                    solved(pattern, make_numbers(pattern, a.view(), true), r));
    };
    renewed(other);
    EXPECT_EQ(factors->version(), version);
    renewed(beyond);
    EXPECT_FALSE(factors->facts().in_fp32);
    EXPECT_GT(factors->version(), version);
    renewed(first);
    EXPECT_TRUE(same_bits(applied(*factors, r), before));
  }
}

// Narrow levels go through shared memory; wide ones, and large systems, need all of the GPU.
TEST(DeviceFactors, ChooseTheirKernelByTheLevels) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const auto chosen = [&](const CsrMatrix<double>& host, const IluChoice& choice) {
    const auto a = uploaded(host);
    const FactorPattern pattern = make_pattern(host.view(), choice);
    return DeviceFactors::make(pattern, a.view(), false)->facts().kernel;
  };
  EXPECT_EQ(chosen(test::tridiagonal_matrix(20000), {}), SweepKernel::one_block);
  EXPECT_EQ(chosen(test::tridiagonal_matrix(50000), {}), SweepKernel::grid);
  EXPECT_EQ(chosen(test::generated("poisson3d", 24), {}), SweepKernel::one_block);
  EXPECT_EQ(chosen(test::generated("poisson3d", 24), {.order = RowOrder::colours}),
            SweepKernel::grid);
}

// Grids that share the GPU: each of them alone has more blocks than run at a time.
TEST(DeviceFactors, SolveInSeveralStreamsAtATime) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const Stream stream;
  const CsrMatrix<double> host = test::generated("poisson3d", 40);
  const auto a = uploaded(host);
  const FactorPattern pattern = make_pattern(host.view(), {});
  const Array<double> r = random_vector<double>(host.rows);
  const DeviceBuffer<double> on_r = trireme::to_device(std::span<const double>(r), stream);
  stream.synchronize();
  constexpr int kStreams = 4, kCalls = 20;
  const SweepOptions way{.kernel = SweepKernel::grid, .warps = 1 << 14};
  std::vector<Stream> streams(kStreams);
  std::vector<std::unique_ptr<DeviceFactors>> factors;
  std::vector<DeviceBuffer<double>> z;
  for (const Stream& of_factors : streams) {
    factors.push_back(DeviceFactors::make(pattern, a.view(), false, way));
    z.emplace_back(r.size(), of_factors);
  }
  const Array<double> expected = applied(*factors[0], r);
  for (int call = 0; call < kCalls; ++call)
    for (std::size_t k = 0; k < kStreams; ++k)
      factors[k]->enqueue(on_r.view(), z[k].span(), streams[k]);
  for (std::size_t k = 0; k < kStreams; ++k)
    EXPECT_TRUE(same_bits(to_host(z[k].view(), streams[k]), expected));
}

TEST(DeviceFactors, AreRecordedIntoGraphs) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const Stream stream;
  const CsrMatrix<double> host = test::generated("elasticity3d", 9);
  const auto a = uploaded(host);
  const FactorPattern pattern = make_pattern(host.view(), {.levels = 1});
  const Array<double> r = random_vector<double>(host.rows);
  const DeviceBuffer<double> on_r = trireme::to_device(std::span<const double>(r), stream);
  const DeviceBuffer<double> between(r.size(), stream), z(r.size(), stream);
  for (const SweepOptions& way : kWays) {
    const auto factors = DeviceFactors::make(pattern, a.view(), true, way);
    const Array<double> expected = applied(*factors, applied(*factors, r));
    const GraphExec graph(capture_graph(stream, [&] {
      factors->enqueue(on_r.view(), between.span(), stream);
      factors->enqueue(between.view(), z.span(), stream);
    }));
    for (int launch = 0; launch < 3; ++launch) {
      fill_nan(z.span(), stream);
      graph.launch(stream);
      EXPECT_TRUE(same_bits(to_host(z.view(), stream), expected));
    }
  }
}

}  // namespace
}  // namespace trireme::factors
