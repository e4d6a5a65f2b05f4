// SPDX-License-Identifier: BSD-3-Clause
// The rows of a DASP layout in the order of the tasks that write them.
//
// row_order puts all rows of the same length together. The tasks go through the matrix from its
// first row to its last. In the order of the tasks, neighbouring rows of different lengths stay
// close together, and so do the entries of x that they share:
//
//   row_order    all of length 9 | all of length 8 | ..
//   task order   32 of length 9 | 32 of length 8 | .. | the next 32 of length 9 | ..
//
// P A P^T must have the same tasks as A, so rows of the same length must keep their relative order.
// A row block of several lengths has the last rows of its longest length and the first rows of its
// other lengths. The former are listed at the end of all rows, the latter at the front.
#include "base/half.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/tuning.hpp"

namespace trireme::dasp {
namespace {

struct Rows {
  std::int32_t front, here, end;
};

// Returns how many rows of a task are listed in each part. The first `end` rows of the task go to
// the end. A long row belongs to the first of its tasks.
__device__ Rows rows_of(const Task& task, const std::int32_t* group_ptr,
                        const std::int32_t* row_order, const std::int32_t* row_ptr) {
  switch (task.work()) {
    case Work::long_groups:
      return {0, task.stored == group_ptr[task.irregular] ? 1 : 0, 0};
    case Work::rows32:
      return {0, 32, 0};
    case Work::rows8:
      return {0, 8, 0};
    case Work::pieces_13:
      return {0, 2 * task.size(), 0};
    case Work::mixed8:
      break;
    default:
      return {0, task.size(), 0};
  }
  const auto length = [&](std::int32_t item) {
    const std::int32_t row = row_order[task.row + item];
    return row_ptr[row + 1] - row_ptr[row];
  };
  std::int32_t longest = 1;
  while (longest < task.size() && length(longest) == length(0)) ++longest;
  return {task.size() - longest, 0, longest};
}

// Stores 3 * tasks counts: for every task its rows at the front, then for every task its rows in
// task order, then for every task its rows at the end.
__global__ void count_rows(std::int32_t tasks, const Task* __restrict__ task,
                           const std::int32_t* __restrict__ group_ptr,
                           const std::int32_t* __restrict__ row_order,
                           const std::int32_t* __restrict__ row_ptr,
                           std::int32_t* __restrict__ count) {
  const std::int32_t t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= tasks) return;
  const Rows rows = rows_of(task[t], group_ptr, row_order, row_ptr);
  count[t] = rows.front;
  count[tasks + t] = rows.here;
  count[2 * tasks + t] = rows.end;
}

// One warp lists the rows of one task.
__global__ void list_rows(std::int32_t tasks, const Task* __restrict__ task,
                          const std::int32_t* __restrict__ group_ptr,
                          const std::int32_t* __restrict__ row_order,
                          const std::int32_t* __restrict__ row_ptr,
                          const std::int32_t* __restrict__ first, std::int32_t* __restrict__ rows) {
  const std::int32_t t = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (t >= tasks) return;
  const Task mine = task[t];
  const std::int32_t position = mine.work() == Work::long_groups ? mine.irregular : mine.row;
  const Rows count = rows_of(mine, group_ptr, row_order, row_ptr);
  for (std::int32_t k = threadIdx.x % 32; k < count.front + count.here + count.end; k += 32) {
    const std::int32_t to = k < count.end                 ? first[2 * tasks + t] + k
                            : k < count.end + count.front ? first[t] + k - count.end
                                                          : first[tasks + t] + k;
    rows[to] = mine.consecutive() ? position + k : row_order[position + k];
  }
}

}  // namespace

template <class Stored>
DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<Stored>& layout,
                                        DeviceSpan<const std::int32_t> row_ptr, StreamRef stream) {
  const auto tasks = static_cast<std::int32_t>(layout.tasks.size());
  DeviceBuffer<std::int32_t> rows(layout.rows, stream);
  if (tasks == 0) return rows;
  ScratchBuffer<std::int32_t> first(3 * std::int64_t{tasks}, stream);
  constexpr int warps = kThreads / 32;
  count_rows<<<(tasks + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      tasks, layout.tasks.data(), layout.group_ptr.data(), layout.row_order.data(), row_ptr.data(),
      first.data());
  check_launch();
  exclusive_sum_in_place(first.span(), stream);
  list_rows<<<(tasks + warps - 1) / warps, kThreads, 0, stream>>>(
      tasks, layout.tasks.data(), layout.group_ptr.data(), layout.row_order.data(), row_ptr.data(),
      first.data(), rows.data());
  check_launch();
  synchronize(stream);
  return rows;
}

template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<double>&,
                                                 DeviceSpan<const std::int32_t>, StreamRef);
template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<float>&,
                                                 DeviceSpan<const std::int32_t>, StreamRef);
template DeviceBuffer<std::int32_t> rows_by_task(const DeviceLayout<Half>&,
                                                 DeviceSpan<const std::int32_t>, StreamRef);

}  // namespace trireme::dasp
