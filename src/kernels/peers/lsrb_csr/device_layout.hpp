// SPDX-License-Identifier: BSD-3-Clause
// The LSRB-CSR layout in GPU memory. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/peers/lsrb_csr/layout.hpp"

namespace trireme::lsrb_csr {

// The arrays are equal to those of the host builder with the default cut.
template <class Value>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t segments = 0;
  std::int64_t row_blocks = 0;
  DeviceSpan<const Value> values;
  DeviceSpan<const std::int32_t> col_idx;
  DeviceBuffer<std::uint16_t> row_starts;
  DeviceBuffer<std::int32_t> first_row;
  DeviceBuffer<std::int32_t> row_of;
  DeviceBuffer<std::int32_t> empty_rows;
  // row_blocks: the row, as first_row counts them, within which the row block begins; -1 where it
  // begins with a row.
  DeviceBuffer<std::int32_t> head_row;
  std::vector<BuildStep> steps;
};

// The layout refers to the columns and values of `matrix`. Synchronises `stream`. Throws
// Error{resource} when the layout does not fit into device memory. Value: double, float.
template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

}  // namespace trireme::lsrb_csr
