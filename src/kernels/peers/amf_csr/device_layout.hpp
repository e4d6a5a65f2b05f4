// SPDX-License-Identifier: BSD-3-Clause
// The AMF-CSR layout in GPU memory. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme::amf_csr {

// A row block with more nonzeros has one row, and its executor cuts that row into chunks.
inline constexpr std::int32_t kMaxRowBlockNonzeros = 4096;

struct LongRowBlock {
  std::int32_t row;
  std::int32_t begin, end;  // nonzeros
};

// The arrays of the layout are equal to those of the host builder.
template <class Value>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t row_blocks = 0;
  std::int64_t sub_blocks = 0;
  int row_bits = 0;
  DeviceBuffer<Value> val;
  DeviceBuffer<std::uint32_t> col_index;
  DeviceBuffer<std::int32_t> row_ptr;
  DeviceBuffer<std::int32_t> first_row;
  std::vector<LongRowBlock> long_rows;  // row blocks of more than kMaxRowBlockNonzeros nonzeros
  std::vector<BuildStep> steps;

  const std::int32_t* sub_block_ptr() const { return row_ptr.data() + row_blocks + 1; }
};

// Groups the rows on the host, which gets row_ptr only, and folds them on the GPU. Synchronises
// `stream`. Throws Error{resource} when the layout does not fit into device memory. Value: double,
// float.
template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

// Copies new values, which are in the order of the CSR, to their places. Asynchronous in `stream`.
template <class Value>
void reorder_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Value>& layout, StreamRef stream);

}  // namespace trireme::amf_csr
