// SPDX-License-Identifier: BSD-3-Clause
// Finds the patterns of the rows of a SELL layout (layout.hpp) on the host.
#pragma once

#include "kernels/sell/layout.hpp"

namespace trireme::sell {

// Gives each row of the slices the number of its pattern, and sets code.patterned, where all rows
// of at most `longest` nonzeros have few patterns. slice_ptr, row_order and code.lane_rows are
// known. The patterns are numbered in the order of the caller's rows that have them first. Takes
// O(nnz) time.
template <class Value>
void find_patterns(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout);
// The same where rows of one pattern have the same values. Sets code.repeated too, and
// pattern_rows.
template <class Value>
void find_repeated_rows(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout);
// True where the rows have the values of pattern_rows, bit by bit.
template <class Value>
bool rows_repeat(const CsrView<Value>& a, const Layout<Value>& layout);

}  // namespace trireme::sell
