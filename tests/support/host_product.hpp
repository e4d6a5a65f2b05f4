// SPDX-License-Identifier: BSD-3-Clause
// Checks that a host kernel multiplies by a matrix as the kernel contract promises.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "kernels/kernel.hpp"
#include "sparse/reference.hpp"
#include "support/random.hpp"

namespace trireme::test {

inline testing::AssertionResult judge(const ComparisonResult& result, const std::string& what) {
  if (result.within_bound()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << what << ": row " << result.worst_row << " is " << result.computed << " instead of "
         << result.expected << ", " << result.worst_ratio << " times n eps sum|a||x|";
}

// For two vectors x, checks y = A x into a poisoned y, and y += A x. The first product, computed
// again, must have the same bits. `a` holds the values that the kernel has.
template <class Value>
testing::AssertionResult matches_reference(HostKernel<Value>& kernel, const CsrView<Value>& a) {
  Array<Value> first;
  for (const std::uint64_t seed : {101, 102, 101}) {
    const Array<Value> x = random_vector<Value>(a.cols, seed);
    Array<Value> y = poisoned_vector<Value>(a.rows);
    kernel.multiply(x, y, Accumulate::no);
    if (auto verdict = judge(compare_product<Value>(a, x, y), "y = A x"); !verdict) return verdict;
    if (seed == 101 && !first.empty() &&
        std::memcmp(first.data(), y.data(), y.size() * sizeof(Value)) != 0)
      return testing::AssertionFailure() << "the same product has other bits the second time";
    if (first.empty()) first = y;

    const Array<Value> before = random_vector<Value>(a.rows, seed + 7);
    y = before;
    kernel.multiply(x, y, Accumulate::yes);
    if (auto verdict = judge(compare_product<Value>(a, x, y, before), "y += A x"); !verdict)
      return verdict;
  }
  return testing::AssertionSuccess();
}

}  // namespace trireme::test
