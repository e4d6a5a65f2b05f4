// SPDX-License-Identifier: BSD-3-Clause
// Tests the product with several vectors on every CUDA kernel of the registry that has one: each
// vector of the result is judged by the independent reference.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "support/device_vectors.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::DeviceVectors;
using test::expect_products;
using test::same_bits;

class CudaMultiContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    const auto a = test::contract_shape<double>("OneByOne");
    const KernelEntry& entry = find_kernel(GetParam());
    if (!DeviceVectors<double>(entry.cuda_double, a).has_product())
      GTEST_SKIP() << "the kernel multiplies one vector only";
  }

  template <class Check>
  void for_each_value_type(Check&& check) {
    const KernelEntry& entry = find_kernel(GetParam());
    check.template operator()<double>(entry.cuda_double);
    if (entry.cuda_float) check.template operator()<float>(entry.cuda_float);
  }
};

TEST_P(CudaMultiContract, MatchesReferenceForEveryWidth) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const std::string name : {"AllMixed", "OneDenseRow"}) {
      SCOPED_TRACE(name);
      DeviceVectors<Value> product(builder, test::contract_shape<Value>(name));
      for (const std::int64_t width : {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 100})
        expect_products(product, width);
    }
  });
}

TEST_P(CudaMultiContract, MatchesReferenceOnEveryShapeWithAndWithoutGaps) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const auto& [name, a] : test::contract_shapes<Value>())
      for (const std::int64_t gap : {0, 3, 4}) {
        SCOPED_TRACE(name);
        DeviceVectors<Value> product(builder, a, gap);
        for (const std::int64_t width : {8, 9}) expect_products(product, width);
      }
  });
}

TEST_P(CudaMultiContract, TakesNewValuesAndMoreVectorsThanRows) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    DeviceVectors<Value> mixed(builder, test::contract_shape<Value>("AllMixed"));
    mixed.update_values(test::random_vector<Value>(mixed.matrix().nnz(), 99));
    expect_products(mixed, 9);
    DeviceVectors<Value> small(builder, test::matrix_with_row_lengths<Value>({3, 0, 2}, 5));
    for (const std::int64_t width : {8, 64, 100}) expect_products(small, width);
  });
}

TEST_P(CudaMultiContract, MixedPrecisionMultipliesByValuesThatFloatHolds) {
  const KernelEntry& entry = find_kernel(GetParam());
  if (!entry.cuda_mixed) GTEST_SKIP() << "the kernel has no mixed precision";
  const auto a = test::rounded_to_float(test::contract_shape<double>("AllMixed"));
  DeviceVectors<double> product(entry.cuda_mixed, a);
  if (!product.has_product()) GTEST_SKIP() << "in mixed precision it multiplies one vector only";
  for (const std::int64_t width : {3, 8, 33}) expect_products(product, width);
}

TEST_P(CudaMultiContract, GivesTheSameBitsInTwentyRuns) {
  if (!find_kernel(GetParam()).deterministic) GTEST_SKIP() << "registered as not deterministic";
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const std::string name : {"AllMixed", "DenseFirstAndLastRow"})
      for (const std::int64_t width : {3, 37}) {
        SCOPED_TRACE(name);
        DeviceVectors<Value> product(builder, test::contract_shape<Value>(name));
        const auto& a = product.matrix();
        const auto x = test::random_vector<Value>(a.cols * width, 4);
        const auto y = test::poisoned_vector<Value>(a.rows * width);
        const auto first = product.multiply(x, width, y, Accumulate::no);
        for (int run = 1; run < 20; ++run)
          ASSERT_TRUE(same_bits(first, product.multiply(x, width, y, Accumulate::no))) << run;
      }
  });
}

TEST_P(CudaMultiContract, ANanInOneVectorReachesOnlyThatVector) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    DeviceVectors<Value> product(builder, test::contract_shape<Value>("AllMixed"));
    const auto& a = product.matrix();
    constexpr std::int64_t kWidth = 11, kBadColumn = 1503;
    auto x = test::random_vector<Value>(a.cols * kWidth, 4);
    const auto poison = test::poisoned_vector<Value>(a.rows * kWidth);
    for (const std::int64_t bad : {0, 3, 10}) {
      SCOPED_TRACE("vector " + std::to_string(bad));
      auto with_nan = x;
      with_nan[kBadColumn * kWidth + bad] = std::numeric_limits<Value>::quiet_NaN();
      const auto y = product.multiply(with_nan, kWidth, poison, Accumulate::no);
      std::int64_t reached = 0;
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < kWidth; ++j)
          if (!std::isfinite(y[i * kWidth + j])) {
            EXPECT_EQ(j, bad) << i;
            ++reached;
          }
      EXPECT_GT(reached, 0);
    }
  });
}

std::vector<std::string> kernels_in_double() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.cuda_double) names.emplace_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaMultiContract);
INSTANTIATE_TEST_SUITE_P(Kernels, CudaMultiContract, testing::ValuesIn(kernels_in_double()),
                         test_name);

}  // namespace
}  // namespace trireme
