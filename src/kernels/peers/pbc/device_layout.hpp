// SPDX-License-Identifier: BSD-3-Clause
// The PBC layout in GPU memory. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme::pbc {

// The arrays of the layout are equal to those of the host builder.
template <class Value>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t long_rows = 0;
  DeviceBuffer<Value> val_data;
  DeviceBuffer<std::int32_t> dev_offset;
  DeviceBuffer<std::int32_t> dev_blockpos;
  DeviceBuffer<std::int32_t> dev_w;
  DeviceBuffer<std::int32_t> dev_p;
  DeviceBuffer<std::int32_t> empty_rows;
  // The rows and places of pbc::Blocks, for new values. A product does not read them.
  DeviceBuffer<std::int32_t> stored_rows;
  DeviceBuffer<std::int32_t> places;
  std::vector<std::int32_t> long_row_numbers;  // long_rows, in the order of their blocks
  std::vector<std::int32_t> long_row_places;   // long_rows + 1
  std::vector<BuildStep> steps;

  std::int64_t blocks() const { return static_cast<std::int64_t>(dev_w.size()); }
};

// Partitions the rows on the host, which gets row_ptr only, and copies the entries on the GPU.
// Synchronises `stream`. Throws Error{resource} when the layout does not fit into device memory.
// Value: double, float.
template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

// Copies new values, which are in the order of the CSR, to their places. Asynchronous in `stream`.
template <class Value>
void reorder_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Value>& layout, StreamRef stream);

}  // namespace trireme::pbc
