// SPDX-License-Identifier: BSD-3-Clause
// The SELL layout in device memory. Its arrays are those of layout.hpp, built on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/sell/layout.hpp"

namespace trireme::sell {

// When the values are stored in FP32.
enum class StoreFp32 {
  never,
  if_exact,  // where FP32 represents every value exactly
  always     // mixed precision
};

// The layout owns its arrays. Value is the type of the caller's CSR: double, float, Half.
template <class Value>
struct DeviceLayout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::int64_t slices = 0, steps = 0;
  std::int64_t apart_nnz = 0;
  Form form;
  DeviceBuffer<std::int32_t> row_order;  // where sorted: slice rows, then the rows kept apart
  DeviceBuffer<std::int32_t> slice_ptr, base, columns;
  DeviceBuffer<std::uint16_t> offsets;
  DeviceBuffer<PatternId> patterns;
  DeviceBuffer<std::int32_t> differences;
  DeviceBuffer<std::int32_t> pattern_rows;  // where repeated
  std::int32_t pattern_width = 0;
  DeviceBuffer<Value> values;
  DeviceBuffer<float> fp32_values;
  std::int64_t apart_rows = 0;
  DeviceBuffer<std::int32_t> apart_row_ptr, apart_col_idx;
  DeviceBuffer<Value> apart_values;  // in use where `values` are
  DeviceBuffer<float> apart_fp32;    // in use where `fp32_values` are

  std::int64_t slice_rows() const { return rows - apart_rows; }
  std::int64_t stored_entries() const { return steps * form.slice_size() + apart_nnz; }
  std::int64_t stored_bytes() const;
};

// Takes O(nnz) time, and a radix sort where the rows are sorted. Synchronises `stream`. The timed
// steps are appended to `steps`. Throws Error{resource} when the layout does not fit into device
// memory.
template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StoreFp32 store_fp32,
                                    std::vector<BuildStep>& steps, StreamRef stream);

// Stores new values on the same pattern; row_ptr is that of the caller's CSR. Where the layout has
// StoreFp32::if_exact, the function waits for `stream`, and moves the layout to FP64 when
// one of the new values is not exact in FP32. It also waits where the layout has repeated rows, and
// stores the values one by one when they do not repeat as before. Otherwise it is asynchronous.
template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        StoreFp32 store_fp32, DeviceLayout<Value>& layout, StreamRef stream);

}  // namespace trireme::sell
