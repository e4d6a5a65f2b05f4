// SPDX-License-Identifier: BSD-3-Clause
// The layout of ragged rows in device memory. Its arrays are those of ragged.hpp, built on the
// device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/ragged.hpp"

namespace trireme::sell {

// The layout owns its arrays. Value is the type of the caller's CSR: double, float, Half.
template <class Value>
struct RaggedDeviceLayout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  int lane_rows = 1;
  bool in_fp32 = false, local = false;
  std::int64_t steps = 0, parts = 0;
  DeviceBuffer<std::int32_t> row_order;
  DeviceBuffer<RaggedSlice> slices;
  DeviceBuffer<CutRow> cut_rows;
  DeviceBuffer<std::int32_t> base;
  DeviceBuffer<std::uint32_t> columns;
  DeviceBuffer<Value> values;
  DeviceBuffer<float> fp32_values;

  std::int64_t stored_entries() const { return steps * kLanes * lane_rows; }
  std::int64_t stored_bytes() const;
};

// is_ragged() for a matrix in device memory. Synchronises `stream`.
bool has_ragged_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const std::int32_t> row_ptr,
                     StreamRef stream);

// Takes O(nnz) time and a radix sort of the rows. Synchronises `stream`. The timed steps are
// appended to `steps`. Throws Error{resource} when the layout does not fit into device memory.
template <class Value>
RaggedDeviceLayout<Value> build_ragged_on_device(const DeviceCsr<Value>& matrix,
                                                 StoreFp32 store_fp32,
                                                 std::vector<BuildStep>& steps, StreamRef stream);

// Stores new values on the same pattern, as fill_device_values() in device_layout.hpp.
template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        StoreFp32 store_fp32, RaggedDeviceLayout<Value>& layout, StreamRef stream);

// The kernel of ragged rows. build_sell_cuda() takes it where is_ragged(). The conditions are those
// of sell.hpp.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_ragged_cuda(const DeviceCsr<Value>& matrix,
                                                     StoreFp32 store_fp32, StreamRef stream);

}  // namespace trireme::sell
