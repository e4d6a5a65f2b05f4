// SPDX-License-Identifier: BSD-3-Clause
// Builds the TEB layout from a CSR on the host, in O(nnz + rows) time, with all OpenMP threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/teb/layout.hpp"
#include "kernels/teb/plan.hpp"
#include "sparse/csr.hpp"

namespace trireme::teb {

template <class Value>
struct BuiltLayout {
  Layout<Value> layout;
  std::vector<BuildStep> steps;
};

// Algorithm 2 of the paper on rows sorted by length, longest first. sum[k] is the number of
// nonzeros before sorted row k. For each block, take(first, begin, end) is called: the block has
// the sorted row `first` and then the sorted rows end-1 down to begin.
template <class Take>
void merge_rows(std::span<const std::int32_t> sum, std::int32_t threshold, Take take) {
  std::ptrdiff_t first = 0, end = std::ssize(sum) - 1;
  while (first < end) {
    const std::int32_t room = threshold - (sum[first + 1] - sum[first]);
    const auto begin =
        std::lower_bound(sum.begin() + first + 1, sum.begin() + end, sum[end] - room);
    take(first, begin - sum.begin(), end);
    ++first;
    end = begin - sum.begin();
  }
}

// The row lengths of a CSR, as runs.
RowRuns count_rows(std::span<const std::int32_t> row_ptr);

// Value: double, float.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix);

// The same with a given plan, whose threshold is at most kMaxNonzeros.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Plan& plan);

// Copies new values to their places. `csr_values` are in the order of the CSR that the layout was
// built from; row_ptr is that of the CSR.
template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout);

}  // namespace trireme::teb
