// SPDX-License-Identifier: BSD-3-Clause
// From CSR to the TEB layout on the host; OpenMP-parallel, O(nnz + rows).
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

// Algorithm 2 on rows sorted by length, longest first, given as sum[k] = nonzeros before sorted row
// k. Calls take(first, begin, end) for each block: sorted row `first`, then rows end-1 down to
// begin.
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

RowRuns count_rows(std::span<const std::int32_t> row_ptr);

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix);
// With the caller's threshold (at most kMaxNonzeros), and all rows in one panel if they are at
// most kMaxPanelRows.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Plan& plan);

// Copies the values of the CSR that the layout was built from to their places.
template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout);

}  // namespace trireme::teb
