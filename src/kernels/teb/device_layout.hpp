// SPDX-License-Identifier: BSD-3-Clause
// The TEB layout in GPU memory, with a head for each block so that a thread block starts with a
// single load. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/teb/plan.hpp"

namespace trireme::teb {

// The number of threads that sum the other rows of a block while its first row is summed.
constexpr int threads_beside_front(int front_length) {
  return front_length > kLongFront && front_length <= kWideFront ? kThreads - 32 : kThreads;
}

// There is one head per block, and one more at the end.
struct alignas(16) BlockHead {
  std::int32_t first_row;      // blo_idx[block]
  std::int32_t first_nonzero;  // rownnz_sum[first_row]
  std::int32_t front_length;   // nonzeros of the first row, the longest
  std::int32_t lanes;          // threads per row for the other rows: a power of two, 1 to 32
};

// A part of a row longer than the threshold.
struct Chunk {
  std::int32_t position;     // position of the row
  std::int32_t begin, end;   // nonzeros of the chunk
  std::int32_t first_chunk;  // first chunk of the row
  std::int32_t chunks;       // number of chunks of the row
};

// The rows in the order of TEB. The arrays are equal to those of the host builder.
struct DeviceOrder {
  Plan plan;
  std::int64_t blocks = 0;
  DeviceBuffer<std::int32_t> row_order;   // rows; empty where it is the caller's order
  DeviceBuffer<std::int32_t> blo_idx;     // blocks + 1
  DeviceBuffer<std::int32_t> rownnz_sum;  // rows + 1
};

template <class Stored>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  DeviceOrder order;
  DeviceBuffer<BlockHead> heads;       // blocks + 1
  DeviceBuffer<Chunk> chunks;          // the chunks of all long rows, row after row
  DeviceBuffer<Stored> values;         // nnz
  DeviceBuffer<std::int32_t> col_idx;  // nnz
  std::vector<BuildStep> steps;
};

// Counts, sorts and merges the rows on the device. Only the histogram of row lengths, a few sizes
// and the threshold are copied between host and device. Synchronises `stream`.
DeviceOrder order_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const std::int32_t> row_ptr,
                       StreamRef stream);

// Stored may be narrower than Value. Synchronises `stream`. Throws Error{resource} when the layout
// does not fit into device memory.
template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

// The same for a matrix whose rows are in the order of TEB already. `order` has no row_order.
template <class Stored, class Value>
DeviceLayout<Stored> build_in_order(const DeviceCsr<Value>& matrix, DeviceOrder order,
                                    StreamRef stream);

// Copies `order` without its row_order. Asynchronous in `stream`.
DeviceOrder without_row_order(const DeviceOrder& order, StreamRef stream);

// Copies new values, which are in the order of the CSR, to their places. Asynchronous in `stream`.
template <class Stored, class Value>
void reorder_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Stored>& layout, StreamRef stream);

}  // namespace trireme::teb
