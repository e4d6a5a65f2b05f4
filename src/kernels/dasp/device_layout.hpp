// SPDX-License-Identifier: BSD-3-Clause
// The DASP layout in GPU memory, with the warp tasks that the CUDA executor follows.
#pragma once

#include <vector>

#include "device/buffer.hpp"
#include "kernels/dasp/plan.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme::dasp {

// The struct owns its arrays. The first group of arrays is that of Layout<Stored> in layout.hpp.
template <class Stored>
struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  Counts counts;
  DeviceBuffer<std::int32_t> row_order;
  DeviceBuffer<Stored> long_val;
  DeviceBuffer<std::int32_t> long_cid;
  DeviceBuffer<std::int32_t> group_ptr;
  DeviceBuffer<Stored> reg_val;
  DeviceBuffer<std::int32_t> reg_cid;
  DeviceBuffer<std::int32_t> rowblock_ptr;
  DeviceBuffer<Stored> irreg_val;
  DeviceBuffer<std::int32_t> irreg_cid;
  DeviceBuffer<std::int32_t> irreg_ptr;
  DeviceBuffer<Stored> short_val;
  DeviceBuffer<std::int32_t> short_cid;

  // The tasks of long rows and the heavy tasks come first. The other tasks are in the order of the
  // caller's first row, because neighbouring rows share entries of x.
  DeviceBuffer<Task> tasks;
  DeviceBuffer<std::int32_t> long_task_ptr;  // long_rows + 1 offsets: the tasks of each long row
  std::int64_t long_tasks = 0;
  std::int32_t heavy_tasks = 0;    // tasks of long rows and heavy tasks
  std::int64_t light_entries = 0;  // stored entries of the other tasks

  // Columns of near tasks in 16 bits, and consecutive columns of long rows (narrow_columns.cu). The
  // buffers are empty where near tasks hold less than half of the entries of medium and short rows
  // and less than half of all entries have consecutive columns.
  std::int64_t near_entries = 0;           // stored entries with 16-bit columns
  std::int64_t consecutive_entries = 0;    // stored entries with consecutive columns
  DeviceBuffer<std::int32_t> column_base;  // per task: smallest column, -1 where it is not near
  DeviceBuffer<std::uint16_t> reg_offset;  // column = column_base + offset
  DeviceBuffer<std::uint16_t> irreg_offset;
  DeviceBuffer<std::uint16_t> short_offset;

  // Per task: 8 bits for each of its row blocks, which say of each row whether it has the same
  // columns as the row before it. Empty where few rows have.
  DeviceBuffer<std::uint32_t> same_columns;

  std::int64_t stored_entries() const {
    return static_cast<std::int64_t>(long_val.size() + reg_val.size() + irreg_val.size() +
                                     short_val.size());
  }
};

// Builds in `stream` and synchronises it. The arrays are equal to those that build() makes on the
// host. The timed steps are appended to `steps`. Throws Error{input} when a part has more than
// 2^31-1 stored entries and Error{resource} when the layout does not fit into device memory.
template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, std::vector<BuildStep>& steps,
                                     StreamRef stream);

// Part of build_on_device(): copies the entries of `matrix` to their places and writes the padding.
// Asynchronous in `stream`.
template <class Stored, class Value>
void copy_entries(const DeviceLayout<Stored>& layout, const DeviceCsr<Value>& matrix,
                  StreamRef stream);

// Part of build_on_device(): finds the near tasks and writes their offsets; row_ptr is that of the
// caller's CSR. Synchronises `stream`.
template <class Stored>
void narrow_columns(DeviceLayout<Stored>& layout, DeviceSpan<const std::int32_t> row_ptr,
                    StreamRef stream);

// Part of build_on_device(): finds rows with the same columns. Synchronises `stream`.
template <class Stored>
void find_shared_columns(DeviceLayout<Stored>& layout, StreamRef stream);

// The caller's rows in the order of the tasks that write them (task_order.cu). Synchronises
// `stream`.
template <class Stored>
DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<Stored>& layout,
                                        DeviceSpan<const std::int32_t> row_ptr, StreamRef stream);

// Copies the values of `matrix` to their places; reads its row_ptr, not its columns. Asynchronous
// in `stream`.
template <class Stored, class Value>
void update_on_device(const DeviceLayout<Stored>& layout, const DeviceCsr<Value>& matrix,
                      StreamRef stream);

}  // namespace trireme::dasp
