// SPDX-License-Identifier: BSD-3-Clause
// The rows of a DASP layout in the order of the tasks that write them.
//
//   row_order puts rows of one length together, over the whole matrix; the tasks go through the
//   matrix from its first row to its last. In the tasks' order rows of all lengths that are
//   neighbours stay neighbours, and so do the entries of x that they share:
//
//   row_order   all of length 9 | all of length 8 | ..
//   this        32 of length 9 | 32 of length 8 | .. | the next 32 of length 9 | ..
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "base/half.hpp"
#include "device/check.hpp"
#include "kernels/dasp/device_layout.hpp"

namespace trireme::dasp {
namespace {

constexpr int kThreads = 256;

// The tasks of a long row after the first write none.
__device__ std::int32_t rows_of(const Task& task, const std::int32_t* group_ptr) {
  switch (task.work()) {
    case Work::long_groups:
      return task.stored == group_ptr[task.irregular] ? 1 : 0;
    case Work::rows32:
      return 32;
    case Work::rows8:
      return 8;
    case Work::pieces_13:
      return 2 * task.size();
    default:
      return task.size();
  }
}

__global__ void count_rows(std::int32_t tasks, const Task* __restrict__ task,
                           const std::int32_t* __restrict__ group_ptr,
                           std::int32_t* __restrict__ count) {
  const std::int32_t t = blockIdx.x * kThreads + threadIdx.x;
  if (t < tasks) count[t] = rows_of(task[t], group_ptr);
}

// A warp a task.
__global__ void list_rows(std::int32_t tasks, const Task* __restrict__ task,
                          const std::int32_t* __restrict__ group_ptr,
                          const std::int32_t* __restrict__ row_order,
                          const std::int32_t* __restrict__ first, std::int32_t* __restrict__ rows) {
  const std::int32_t t = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (t >= tasks) return;
  const Task mine = task[t];
  const std::int32_t position = mine.work() == Work::long_groups ? mine.irregular : mine.row;
  const std::int32_t count = rows_of(mine, group_ptr);
  for (std::int32_t k = threadIdx.x % 32; k < count; k += 32)
    rows[first[t] + k] = mine.consecutive() ? position + k : row_order[position + k];
}

}  // namespace

template <class Stored>
DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<Stored>& layout, StreamRef stream) {
  const auto tasks = static_cast<std::int32_t>(layout.tasks.size());
  DeviceBuffer<std::int32_t> rows(layout.rows, stream);
  if (tasks == 0) return rows;
  ScratchBuffer<std::int32_t> first(tasks, stream);
  constexpr int warps = kThreads / 32;
  count_rows<<<(tasks + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      tasks, layout.tasks.data(), layout.group_ptr.data(), first.data());
  check_launch();
  std::size_t bytes = 0;
  cuda_check(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, first.data(), first.data(), tasks, stream));
  ScratchBuffer<std::byte> scratch(std::max<std::size_t>(bytes, 1), stream);
  cuda_check(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, first.data(), first.data(), tasks,
                                           stream));
  list_rows<<<(tasks + warps - 1) / warps, kThreads, 0, stream>>>(
      tasks, layout.tasks.data(), layout.group_ptr.data(), layout.row_order.data(), first.data(),
      rows.data());
  check_launch();
  synchronize(stream);
  return rows;
}

template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<double>&, StreamRef);
template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<float>&, StreamRef);
template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<Half>&, StreamRef);

}  // namespace trireme::dasp
