// SPDX-License-Identifier: BSD-3-Clause
// The TEB layout in GPU memory, and what lets a thread block start with one load. Compiles without
// CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/teb/plan.hpp"

namespace trireme::teb {

inline constexpr int kThreads = 256;    // of the thread block that takes one TEB block
inline constexpr int kLongFront = 64;   // a first row longer than this has a warp to itself
inline constexpr int kWideFront = 512;  // and longer than this all warps, before the others
inline constexpr int kChunkNonzeros =
    4096;  // of a row longer than the threshold: a thread block each

// Threads that are left for a block's other rows while its first row is added up.
constexpr int threads_beside_front(int front_length) {
  return front_length > kLongFront && front_length <= kWideFront ? kThreads - 32 : kThreads;
}

// One for each block, and one more that marks the end.
struct alignas(16) BlockHead {
  std::int32_t first_row;      // blo_idx[block]
  std::int32_t first_nonzero;  // rownnz_sum[first_row]
  std::int32_t front_length;   // nonzeros of the first row, the longest
  std::int32_t lanes;          // threads that add up one of the other rows: a power of two, 1 to 32
};

// A part of a row longer than the threshold.
struct Chunk {
  std::int32_t position;     // of the row
  std::int32_t begin, end;   // nonzeros
  std::int32_t first_chunk;  // of the row
  std::int32_t chunks;       // of the row
};

// Rows in TEB's order: identical to the host builder's arrays.
struct DeviceOrder {
  Plan plan;
  std::int64_t blocks = 0;
  DeviceBuffer<std::int32_t> row_order;   // rows; empty: the caller's
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
  DeviceBuffer<Chunk> chunks;          // of all long rows, row after row
  DeviceBuffer<Stored> values;         // nnz
  DeviceBuffer<std::int32_t> col_idx;  // nnz
  std::vector<BuildStep> steps;
};

// Counts, sorts, merges and scans on the device; only the row length histogram, a few sizes and the
// threshold travel. Synchronises `stream`.
DeviceOrder order_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const std::int32_t> row_ptr,
                       StreamRef stream);

// Stored may be narrower than the matrix's Value. Synchronises `stream`.
template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

// For a matrix whose rows are in `order` already, which has no row_order.
template <class Stored, class Value>
DeviceLayout<Stored> build_in_order(const DeviceCsr<Value>& matrix, DeviceOrder order,
                                    StreamRef stream);
DeviceOrder without_row_order(const DeviceOrder& order, StreamRef stream);

// New values in the CSR's order to their places; asynchronous.
template <class Stored, class Value>
void reorder_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Stored>& layout, StreamRef stream);

}  // namespace trireme::teb
