// SPDX-License-Identifier: BSD-3-Clause
// The CSR5 layout in GPU memory. Its arrays are those of layout.hpp, built on the GPU. This header
// compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/peers/csr5/layout.hpp"

namespace trireme::csr5 {

// The layout owns its arrays; layout.hpp says what they hold and how long they are. omega is 32.
template <class Stored>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  TileShape shape;
  std::int64_t tiles = 0;

  DeviceBuffer<std::uint32_t> tile_ptr, tile_desc;
  DeviceBuffer<std::int32_t> empty_offset_ptr, empty_offset, empty_rows;
  DeviceBuffer<std::int32_t> col_idx;
  DeviceBuffer<Stored> values;

  std::int64_t stored_bytes() const;
};

// Takes O(nnz + rows + tiles log rows) time. Two sizes are copied to the host. Synchronises
// `stream`. The timed steps are appended to `steps`. Stored may be narrower than Value. Throws
// Error{resource} when the layout does not fit into device memory.
template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, std::vector<BuildStep>& steps,
                                     StreamRef stream);

// Copies new values, which are in the order of the CSR, to their places. Asynchronous in `stream`.
template <class Stored, class Value>
void transpose_values(DeviceSpan<const Value> csr_values, DeviceLayout<Stored>& layout,
                      StreamRef stream);

}  // namespace trireme::csr5
