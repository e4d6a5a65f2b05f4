// SPDX-License-Identifier: BSD-3-Clause
// Tests the kernel contract on every host kernel of the registry in every value type, so that a
// registered kernel is a tested kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/fp64_sums.hpp"
#include "kernels/kernel_names.hpp"
#include "kernels/registry.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"
#include "support/watched.hpp"
#include "support/with_threads.hpp"

namespace trireme {
namespace {

using test::WithThreads;

class HostContract : public testing::TestWithParam<std::string> {
 protected:
  // Calls check.operator()<Value>() for each value type that the kernel has on the host.
  template <class Check>
  void for_each_value_type(Check&& check) {
    const KernelEntry& entry = find_kernel(GetParam());
    if (entry.host<double>()) {
      SCOPED_TRACE("double");
      check.template operator()<double>();
    }
    if (entry.host<float>()) {
      SCOPED_TRACE("float");
      check.template operator()<float>();
    }
    if (entry.host<std::int32_t>()) {
      SCOPED_TRACE("int");
      check.template operator()<std::int32_t>();
    }
  }
};

// Builds and multiplies twice for each number of threads.
TEST_P(HostContract, GivesTheSameBitsWithAsManyThreadsAsTheRegistrySays) {
  const KernelEntry& entry = find_kernel(GetParam());
  if (!entry.deterministic || !entry.host_double)
    GTEST_SKIP() << "the kernel promises nothing in double precision";
  const auto matrix = test::contract_shape<double>("EveryLengthTo600");
  const auto x = test::random_vector<double>(matrix.cols, 3);
  const auto product = [&](int threads) {
    const WithThreads with(threads);
    const auto kernel = build_host_kernel<double>(GetParam(), matrix.view());
    Array<double> y(matrix.rows);
    kernel->multiply(x, y, Accumulate::no);
    return y;
  };
  const Array<double> of_one = product(1);
  bool always_the_same = true;
  for (const int threads : {1, 2, 3, 7}) {
    const Array<double> y = product(threads);
    const std::size_t bytes = y.size() * sizeof(double);
    EXPECT_EQ(std::memcmp(y.data(), product(threads).data(), bytes), 0) << threads << " threads";
    always_the_same = always_the_same && std::memcmp(y.data(), of_one.data(), bytes) == 0;
  }
  EXPECT_EQ(always_the_same, !entry.host_bits_follow_threads);
}

TEST_P(HostContract, MatchesReferenceOnEveryShapeAndThreadCount) {
  for_each_value_type([&]<class Value>() {
    for (const auto& [name, matrix] : test::contract_shapes<Value>())
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(name + " on " + std::to_string(threads) + " threads");
        const WithThreads with(threads);
        const auto kernel = test::build_or_refuse<Value>(GetParam(), matrix.view());
        if (!kernel) continue;
        EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
      }
  });
}

// Random values, and equal ones, whose sum in FP32 would be far off in long rows.
TEST_P(HostContract, SumsNumbersOfFp32InFp64) {
  if (!find_kernel(GetParam()).host_float) GTEST_SKIP() << "no single precision";
  for (const auto& [name, matrix] : test::contract_shapes<float>(test::watched() ? "AllMixed" : ""))
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(name + " on " + std::to_string(threads) + " threads");
      const WithThreads with(threads);
      const auto kernel = test::build_or_refuse<float>(GetParam(), matrix.view());
      if (!kernel) continue;
      const int shares = test::roundings_of_shares(GetParam());
      EXPECT_TRUE(test::sums_in_fp64(*kernel, matrix.view(), shares));
      const auto equal = test::with_equal_values(matrix, 0.1f);
      kernel->update_values(equal.values);
      EXPECT_TRUE(test::sums_in_fp64(*kernel, equal.view(), shares));
    }
}

TEST_P(HostContract, MultipliesOnAnotherThreadCountThanItWasBuiltFor) {
  for_each_value_type([&]<class Value>() {
    for (const std::string name : {"AllMixed", "OneDenseRow", "OnlyShortRows"})
      for (const auto& [build_threads, product_threads] : {std::pair{5, 2}, {1, 4}, {3, 1}}) {
        SCOPED_TRACE(name);
        const auto matrix = test::contract_shape<Value>(name);
        const WithThreads building(build_threads);
        const auto kernel = test::build_or_refuse<Value>(GetParam(), matrix.view());
        if (!kernel) continue;
        const WithThreads multiplying(product_threads);
        EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
      }
  });
}

TEST_P(HostContract, TakesNewValuesOnTheSamePattern) {
  for_each_value_type([&]<class Value>() {
    for (const auto& [name, matrix] : test::contract_shapes<Value>()) {
      SCOPED_TRACE(name);
      const auto kernel = test::build_or_refuse<Value>(GetParam(), matrix.view());
      if (!kernel) continue;
      auto updated = matrix;
      updated.values = test::random_vector<Value>(matrix.nnz(), 99);
      kernel->update_values(updated.values);
      EXPECT_TRUE(test::matches_reference(*kernel, updated.view()));
    }
  });
}

// A kernel may store such values in fewer bytes, until it gets values that FP32 cannot represent.
TEST_P(HostContract, MatchesReferenceWhereFloatHoldsEveryValue) {
  if (!find_kernel(GetParam()).host_double) GTEST_SKIP() << "no double precision";
  for (auto& [name, matrix] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const CsrMatrix<double> exact = test::rounded_to_float(matrix);
    const auto kernel = test::build_or_refuse<double>(GetParam(), exact.view());
    if (!kernel) continue;
    EXPECT_TRUE(test::matches_reference(*kernel, exact.view()));
    kernel->update_values(matrix.values);
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

// Padding must read no entry of x, or one that its row reads anyway.
TEST_P(HostContract, AnInfiniteEntryOfXReachesOnlyTheRowsWithItsColumn) {
  for_each_value_type([&]<class Value>() {
    if constexpr (std::numeric_limits<Value>::has_infinity) {
      const auto a = test::contract_shape<Value>("AllMixed");
      const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
      for (std::int64_t bad = 0; bad < a.cols; bad += 501) {
        auto x = test::random_vector<Value>(a.cols);
        x[bad] = std::numeric_limits<Value>::infinity();
        auto y = test::poisoned_vector<Value>(a.rows);
        kernel->multiply(x, y, Accumulate::no);
        for (std::int64_t row = 0; row < a.rows; ++row) {
          const auto first = a.col_idx.begin() + a.row_ptr[row];
          const auto last = a.col_idx.begin() + a.row_ptr[row + 1];
          EXPECT_EQ(std::isfinite(y[row]), std::find(first, last, bad) == last) << row;
        }
      }
    }
  });
}

TEST_P(HostContract, GivesTheSameBitsInAHundredProducts) {
  if (!find_kernel(GetParam()).deterministic) GTEST_SKIP() << "registered as not deterministic";
  for_each_value_type([&]<class Value>() {
    const WithThreads with(2);
    const auto a = test::contract_shape<Value>("AllMixed");
    const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
    const auto x = test::random_vector<Value>(a.cols);
    Array<Value> first(a.rows), again(a.rows);
    kernel->multiply(x, first, Accumulate::no);
    for (int product = 1; product < 100; ++product) {
      kernel->multiply(x, again, Accumulate::no);
      ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(Value)), 0);
    }
  });
}

TEST_P(HostContract, MixedPrecisionIsTheProductOfTheRoundedMatrix) {
  if (!find_kernel(GetParam()).host_mixed) GTEST_SKIP() << "no mixed precision";
  for (const auto& [name, matrix] : test::contract_shapes<double>())
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(name + " on " + std::to_string(threads) + " threads");
      const WithThreads with(threads);
      const auto kernel = build_mixed_host_kernel(GetParam(), matrix.view());
      EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(matrix).view()));
      auto updated = matrix;
      updated.values = test::random_vector<double>(matrix.nnz(), 99);
      kernel->update_values(updated.values);
      EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(updated).view()));
      EXPECT_GE(kernel->statistics().stored_bytes, matrix.nnz());
    }
}

TEST_P(HostContract, CountsWhatItStores) {
  for_each_value_type([&]<class Value>() {
    for (const auto& [name, matrix] : test::contract_shapes<Value>()) {
      SCOPED_TRACE(name);
      const auto kernel = test::build_or_refuse<Value>(GetParam(), matrix.view());
      if (!kernel) continue;
      const auto statistics = kernel->statistics();
      // A layout may compress, but not to less than one byte per nonzero.
      EXPECT_GE(statistics.stored_bytes, matrix.nnz());
      EXPECT_GE(statistics.padding_ratio, 0);
      for (const BuildStep& step : statistics.steps) {
        EXPECT_FALSE(step.name.empty());
        EXPECT_GE(step.seconds, 0);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, HostContract, testing::ValuesIn(test::host_kernels()),
                         test::name_of_test);

}  // namespace
}  // namespace trireme
