// SPDX-License-Identifier: BSD-3-Clause
// Checks that numbers of FP32 are summed in FP64: the result of a row is its sum, rounded once. A
// sum in FP32 is within the bound of compare_product(), but not within this one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"
#include "support/random.hpp"
#include "support/sums_in_fp64.hpp"

namespace trireme::test {

// How often a share of a row's sum is rounded before it becomes a part of the result: where a row
// is cut between threads, segments or tiles, the share of its owner is, and hyb stores the first
// nonzeros of a row, the others before the end of a segment, and those of other segments.
inline int roundings_of_shares(std::string_view kernel) {
  for (const std::string_view cuts :
       {"albus", "albus-threads", "coo", "csr5", "lsrb-csr", "spmm-nnz-thread", "spmm-nnz-tile",
        "spmm-nnz-warp", "spmm-nnz-cache", "spmm-rule"})
    if (kernel == cuts) return 1;
  return kernel == "hyb" ? 2 : 0;
}

// Checks y = A x and y += A x for random numbers and for an x of equal ones. The rounding errors of
// a long sum of equal numbers do not cancel.
inline testing::AssertionResult sums_in_fp64(HostKernel<float>& kernel, const CsrView<float>& a,
                                             int shares) {
  Array<float> equal(a.cols);
  std::fill(equal.begin(), equal.end(), 0.7f);
  for (const auto& x : {random_vector<float>(a.cols, 101), equal}) {
    auto y = poisoned_vector<float>(a.rows);
    kernel.multiply(x, y, Accumulate::no);
    if (auto verdict = sums_in_fp64(a, x, y, {}, shares); !verdict) return verdict << ", y = A x";
    const auto before = random_vector<float>(a.rows, 102);
    y = before;
    kernel.multiply(x, y, Accumulate::yes);
    if (auto verdict = sums_in_fp64(a, x, y, before, shares); !verdict)
      return verdict << ", y += A x";
  }
  return testing::AssertionSuccess();
}

// The same pattern with equal values.
template <class Value>
CsrMatrix<Value> with_equal_values(CsrMatrix<Value> a, Value value) {
  std::fill(a.values.begin(), a.values.end(), value);
  return a;
}

}  // namespace trireme::test
