// SPDX-License-Identifier: BSD-3-Clause
// Checks that numbers of FP32 are summed in FP64: the result of a row is its sum, rounded once. A
// sum in FP32 is within the bound of compare_product(), but not within this one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"
#include "support/random.hpp"

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

// Judges y = A x, or y = y_before + A x where y_before is given.
inline testing::AssertionResult sums_in_fp64(const CsrView<float>& a, std::span<const float> x,
                                             std::span<const float> y,
                                             std::span<const float> y_before, int shares) {
  constexpr double kHalfUnit = std::numeric_limits<float>::epsilon() / 2;
  constexpr double kSmallest = std::numeric_limits<float>::denorm_min();
  constexpr double kOfDouble = std::numeric_limits<double>::epsilon();
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = y_before.empty() ? 0.0 : static_cast<double>(y_before[row]);
    double magnitude = std::fabs(sum);
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const double term = static_cast<double>(a.values[k]) * static_cast<double>(x[a.col_idx[k]]);
      sum += term;
      magnitude += std::fabs(term);
    }
    const double terms = a.row_ptr[row + 1] - a.row_ptr[row] + 1;
    const double allowed = kHalfUnit * std::fabs(sum) + kSmallest + shares * kHalfUnit * magnitude +
                           2 * terms * kOfDouble * magnitude;
    const double difference = std::fabs(static_cast<double>(y[row]) - sum);
    if (!(difference <= allowed))
      return testing::AssertionFailure()
             << "row " << row << " of " << terms - 1 << " nonzeros is " << y[row] << " instead of "
             << sum << ", a difference of " << difference << " where " << allowed << " is allowed";
  }
  return testing::AssertionSuccess();
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
