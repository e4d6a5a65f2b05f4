// SPDX-License-Identifier: BSD-3-Clause
// The SELL layout in device memory: the same arrays as layout.hpp, built there.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/sell/layout.hpp"

namespace trireme::sell {

enum class Singles {
  never,
  if_exact,  // FP32 where no value is rounded by it
  always     // mixed precision
};

// Value: of the caller's CSR (double, float, Half).
template <class Value>
struct DeviceLayout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::int64_t slices = 0, steps = 0;
  std::int64_t apart_nnz = 0;
  Code code;
  DeviceBuffer<std::int32_t> row_order;  // sorted: slice rows, then the rows kept apart
  DeviceBuffer<std::int32_t> slice_ptr, base, columns;
  DeviceBuffer<std::uint16_t> offsets;
  DeviceBuffer<Value> values;
  DeviceBuffer<float> singles;
  std::int64_t apart_rows = 0;
  DeviceBuffer<std::int32_t> apart_row_ptr, apart_col_idx;
  DeviceBuffer<Value> apart_values;   // as `values` and
  DeviceBuffer<float> apart_singles;  // `singles`

  std::int64_t slice_rows() const { return rows - apart_rows; }
  std::int64_t stored_entries() const { return steps * code.slice_size() + apart_nnz; }
  std::int64_t stored_bytes() const;
};

// O(nnz) and a radix sort of the rows where they are sorted. Synchronises `stream`.
template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, Singles singles,
                                    std::vector<BuildStep>& steps, StreamRef stream);

// New values on the same pattern. Where the layout has singles that must be exact, waits for
// `stream` and moves to FP64 when one of the new values is not. `pattern`: row_ptr of the CSR.
template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        Singles singles, DeviceLayout<Value>& layout, StreamRef stream);

}  // namespace trireme::sell
