// SPDX-License-Identifier: BSD-3-Clause
// Finds the patterns of the rows of a SELL layout (layout.hpp) on the device.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/sell/layout.hpp"

namespace trireme::sell {

struct DevicePatterns {
  DeviceBuffer<PatternId> of_rows;          // as Layout::patterns; empty where there are too many
  DeviceBuffer<std::int32_t> differences;   // as Layout::differences
  DeviceBuffer<std::int32_t> pattern_rows;  // as Layout::pattern_rows
  std::int32_t width = 0;
};

// A CSR, and the rows of the layout. Value: double, float, Half.
template <class Value>
struct PatternRows {
  std::int64_t nnz = 0;  // of all rows
  std::int64_t slice_rows = 0, slices = 0;
  std::int32_t longest = 0;  // nonzeros of the longest row of the slices
  int lane_rows = 1;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* col_idx = nullptr;
  const std::int32_t* row_order = nullptr;  // null: the caller's order
  const Value* values = nullptr;            // null: patterns without values
};

// The arrays are equal to those of find_patterns() in patterns.hpp, or with values to those of
// find_repeated_rows(). Reads the columns and values twice, and only the first of them where there
// are many patterns. Synchronises `stream`.
template <class Value>
DevicePatterns find_patterns(const PatternRows<Value>& rows, StreamRef stream);

// Sets *differs where a row of the layout does not have the values of its row in `pattern_rows`,
// bit by bit. `width` is that of the patterns. Asynchronous in `stream`.
template <class Value>
void find_rows_that_differ(const PatternRows<Value>& rows, const DeviceBuffer<PatternId>& of_rows,
                           const DeviceBuffer<std::int32_t>& pattern_rows, std::int32_t width,
                           std::int32_t* differs, StreamRef stream);

}  // namespace trireme::sell
