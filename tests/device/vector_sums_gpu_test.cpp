// SPDX-License-Identifier: BSD-3-Clause
// Sums of vectors on a GPU against loops on the host in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "device/vector_sums.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

class VectorSumsOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    stream_.emplace();
    sums_.emplace(*stream_);
  }
  DeviceBuffer<double> up(const std::vector<double>& numbers) {
    return to_device(std::span<const double>(numbers), *stream_);
  }
  static std::vector<double> drawn(std::size_t size, std::uint64_t seed) {
    test::Random random(seed);
    std::vector<double> numbers(size);
    for (double& number : numbers) number = static_cast<double>(random.below(2001)) / 1000 - 1;
    return numbers;
  }
  static void expect_sum(double found, long double sum) {
    EXPECT_NEAR(found, static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
  }

  std::optional<Stream> stream_;
  std::optional<VectorSums> sums_;
};

TEST_F(VectorSumsOnGpu, FactsOfSizesAroundABlock) {
  for (const std::size_t size : {1, 31, 255, 256, 257, 1025, 1'000'003}) {
    SCOPED_TRACE(size);
    std::vector<double> v = drawn(size, size);
    v[size / 2] = -7.5;
    const DeviceBuffer<double> on_device = up(v);
    const VectorFacts facts = sums_->facts_of(on_device.view());
    long double squares = 0;
    for (const double value : v) squares += static_cast<long double>(value) * value;
    expect_sum(facts.squares, squares);
    EXPECT_EQ(facts.largest, 7.5);
    EXPECT_TRUE(facts.finite);
    EXPECT_EQ(sums_->facts_of(on_device.view()).squares, facts.squares) << "other bits";
  }
  EXPECT_EQ(sums_->facts_of({}).largest, 0);
  EXPECT_TRUE(sums_->facts_of({}).finite);
}

TEST_F(VectorSumsOnGpu, OneNumberThatIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    for (const std::size_t at : {0, 4999, 9999}) {
      std::vector<double> v = drawn(10'000, 3);
      v[at] = bad;
      const VectorFacts facts = sums_->facts_of(up(v).view());
      EXPECT_FALSE(facts.finite);
      EXPECT_LE(facts.largest, 1);
    }
  const VectorFacts huge = sums_->facts_of(up({1e200, -3e200}).view());
  EXPECT_TRUE(huge.finite);
  EXPECT_EQ(huge.largest, 3e200);
  EXPECT_TRUE(std::isinf(huge.squares));
}

TEST_F(VectorSumsOnGpu, SumsOfAResidual) {
  for (const std::size_t size : {1, 300, 70'001}) {
    const std::vector<double> b = drawn(size, 1), product = drawn(size, 2), sizes = drawn(size, 3);
    const DeviceBuffer<double> of_b = up(b), of_sizes = up(sizes);
    for (const bool weighs : {false, true}) {
      const DeviceBuffer<double> r = up(product);
      const ResidualSums sums = sums_->subtract_from(
          of_b.view(), r.span(), weighs ? of_sizes.view() : DeviceSpan<const double>());
      const auto received = to_host(r.view(), *stream_);
      long double squares = 0, of_rows = 0, of_b_and_rows = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double value = b[i] - product[i];
        EXPECT_EQ(received[i], value);
        squares += static_cast<long double>(value) * value;
        const long double weighted = static_cast<long double>(sizes[i]) * value;
        of_rows += weighted * weighted;
        const long double weighted_b = static_cast<long double>(sizes[i]) * b[i];
        of_b_and_rows += weighted_b * weighted_b;
      }
      expect_sum(sums.squares, squares);
      expect_sum(sums.of_rows, weighs ? of_rows : 0);
      expect_sum(sums.of_rows_and_b, weighs ? of_b_and_rows : 0);
    }
  }
}

TEST_F(VectorSumsOnGpu, ScalesByPowersOfTwo) {
  const std::vector<double> v = drawn(1000, 5);
  const DeviceBuffer<double> from = up(v), to = up(std::vector<double>(1000, 99.0));
  for (const int exponent : {0, 3, -700, 1000})
    for (const bool negated : {false, true}) {
      scale_on_device(from.view(), exponent, negated, to.span(), *stream_);
      const auto received = to_host(to.view(), *stream_);
      for (std::size_t i = 0; i < v.size(); ++i)
        EXPECT_EQ(received[i], (negated ? -1 : 1) * std::ldexp(v[i], exponent));
    }
}

}  // namespace
}  // namespace trireme
