// SPDX-License-Identifier: BSD-3-Clause
// Builds DASP from a CSR on the GPU: one radix sort of the rows by length, two small read-backs,
// and one copy of the entries. A second sort puts the tasks into the caller's row order.
#include <algorithm>
#include <array>
#include <bit>

#include "base/half.hpp"
#include "base/stopwatch.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/tuning.hpp"
#include "kernels/numeric.cuh"

namespace trireme::dasp {
namespace {

constexpr int kBuckets = kMaxLen + 2;  // one for long rows, one for each length 256, .., 1, 0

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__global__ void bucket_keys(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                            std::uint16_t* __restrict__ keys, std::int32_t* __restrict__ row) {
  const std::int64_t i = thread_number();
  if (i >= rows) return;
  const std::int32_t length = row_ptr[i + 1] - row_ptr[i];
  keys[i] = static_cast<std::uint16_t>(length > kMaxLen ? 0 : kMaxLen + 1 - length);
  row[i] = static_cast<std::int32_t>(i);
}

// Sets start[b] to the first position whose key is at least b.
__global__ void bucket_starts(std::int64_t rows, const std::uint16_t* __restrict__ keys,
                              std::int32_t* __restrict__ start) {
  const std::int64_t i = thread_number();
  if (i > rows) return;
  const int from = i == 0 ? 0 : keys[i - 1] + 1;
  const int to = i == rows ? kBuckets : keys[i];
  for (int bucket = from; bucket <= to; ++bucket) start[bucket] = static_cast<std::int32_t>(i);
}

// The positions among the sorted rows where the parts of row_order begin.
struct OrderSource {
  Counts counts;
  std::int64_t fours, threes, twos, ones, empty;
};

__global__ void order_rows(std::int64_t rows, const std::int32_t* __restrict__ sorted,
                           OrderSource from, std::int32_t* __restrict__ order) {
  const std::int64_t i = thread_number();
  if (i >= rows) return;
  const Counts& c = from.counts;
  std::int64_t source = i;
  if (i >= c.first_empty()) {
    source = from.empty + i - c.first_empty();
  } else if (i >= c.first_1()) {
    source = from.ones + c.pieces_13 + i - c.first_1();
  } else if (i >= c.first_22()) {
    source = from.twos + i - c.first_22();
  } else if (i >= c.first_4() + c.fours) {
    source = from.threes + c.pieces_13 + i - c.first_4() - c.fours;
  } else if (i >= c.first_4()) {
    source = from.fours + i - c.first_4();
  } else if (i >= c.first_13()) {
    const std::int64_t k = i - c.first_13();
    source = (k % 2 == 0 ? from.ones : from.threes) + k / 2;
  }
  order[i] = sorted[source];
}

// Stores the numbers of groups and tasks of long row i at i + 1, where a prefix sum turns them into
// offsets.
__global__ void measure_long(std::int64_t long_rows, const std::int32_t* __restrict__ row_ptr,
                             const std::int32_t* __restrict__ order,
                             std::int32_t* __restrict__ groups, std::int32_t* __restrict__ tasks) {
  const std::int64_t i = thread_number();
  if (i > long_rows) return;
  std::int32_t count = 0;
  if (i > 0) {
    const std::int32_t row = order[i - 1];
    count = (row_ptr[row + 1] - row_ptr[row] + 63) / 64;
  }
  groups[i] = count;
  tasks[i] = count == 0 ? 0 : tasks_of_long_row(count);
}

__device__ const Segment& segment_of(std::int32_t task, const Segment* segments, int count) {
  int low = 0;
  for (int step = count; step > 1;) {
    const int half = step / 2;
    if (segments[low + half].first_task <= task) low += half;
    step -= half;
  }
  return segments[low];
}

struct MediumPointers {
  std::int32_t* rowblock_ptr;
  std::int32_t* irreg_ptr;
  std::int64_t first_medium;
  std::int64_t medium_rows;
  std::int32_t row_blocks;
  std::int32_t regular_entries;
  std::int32_t irregular_entries;
};

// Writes the pointers of the row blocks of one medium task. Only a mixed8 task reads the matrix:
// the pointers of rows of the same length follow from the task.
__device__ void write_pointers(const Task& task, const MediumPointers& to,
                               const std::int32_t* row_ptr, const std::int32_t* order) {
  const std::int32_t first = task.row - static_cast<std::int32_t>(to.first_medium);
  if (task.work() == Work::mixed8) {
    std::int32_t length[8];
    for (int row = 0; row < 8; ++row) {
      length[row] = 0;
      if (row < task.size()) {
        const std::int32_t at = order[task.row + row];
        length[row] = row_ptr[at + 1] - row_ptr[at];
      }
    }
    const std::int32_t width = 4 * regular_blocks<8, 4>([&](int row) { return length[row]; });
    std::int32_t irregular = task.irregular;
    for (int row = 0; row < task.size(); ++row) {
      to.irreg_ptr[first + row] = irregular;
      irregular += length[row] > width ? length[row] - width : 0;
    }
    to.rowblock_ptr[first / 8] = task.stored * 32;
    return;
  }
  const std::int32_t rows = task.work() == Work::rows32 ? 32 : 8;
  const std::int32_t blocks = task.size() / 4;
  for (std::int32_t row = 0; row < rows; ++row)
    to.irreg_ptr[first + row] = task.irregular + row * (task.size() % 4);
  for (std::int32_t block = 0; block < rows / 8; ++block)
    to.rowblock_ptr[first / 8 + block] = (task.stored + block * blocks) * 32;
}

// Makes every task that is not of a long row, its sorting key, and the pointers of its medium rows.
__global__ void make_tasks(std::int32_t tasks, const Segment* __restrict__ segments, int count,
                           MediumPointers pointers, const std::int32_t* __restrict__ row_ptr,
                           const std::int32_t* __restrict__ order, Task* __restrict__ task,
                           std::uint32_t* __restrict__ key) {
  const std::int64_t i = thread_number();
  if (i == 0) {
    pointers.rowblock_ptr[pointers.row_blocks] = pointers.regular_entries;
    pointers.irreg_ptr[pointers.medium_rows] = pointers.irregular_entries;
  }
  if (i >= tasks) return;
  const Segment& segment = segment_of(static_cast<std::int32_t>(i), segments, count);
  Task mine = task_of(segment, static_cast<std::int32_t>(i) - segment.first_task);
  const Work work = mine.work();
  if (work == Work::rows32 || work == Work::rows8 || work == Work::mixed8)
    write_pointers(mine, pointers, row_ptr, order);
  const std::int32_t first_row = order[mine.row];
  key[i] = is_heavy(work, segment.length) ? 0 : static_cast<std::uint32_t>(first_row) + 1;
  // The rows of a task ascend, except in mixed8 tasks and in pieces of 1&3.
  if (work == Work::pieces_13) {
    std::int32_t in_row = 1;
    while (in_row < 2 * mine.size() && order[mine.row + in_row] == first_row + in_row) ++in_row;
    if (in_row == 2 * mine.size()) {
      mine.what |= Task::kConsecutive;
      mine.row = first_row;
    }
  } else if (work != Work::mixed8) {
    const std::int32_t rows = work == Work::rows32 ? 32 : work == Work::rows8 ? 8 : mine.size();
    if (order[mine.row + rows - 1] - first_row == rows - 1) {
      mine.what |= Task::kConsecutive;
      mine.row = first_row;
    }
  }
  task[i] = mine;
}

// Makes the tasks of the long rows. Bisection finds the row of each task; the sorting key 0 puts
// these tasks first.
__global__ void make_long_tasks(std::int32_t tasks, std::int32_t long_rows,
                                const std::int32_t* __restrict__ task_ptr,
                                const std::int32_t* __restrict__ group_ptr, Task* __restrict__ task,
                                std::uint32_t* __restrict__ key) {
  const std::int64_t i = thread_number();
  if (i >= tasks) return;
  std::int32_t low = 0;
  for (std::int32_t step = long_rows; step > 1;) {
    const std::int32_t half = step / 2;
    if (task_ptr[low + half] <= i) low += half;
    step -= half;
  }
  const std::int32_t groups = group_ptr[low + 1] - group_ptr[low];
  const std::int32_t each = groups_per_task(groups);
  const std::int32_t from = (static_cast<std::int32_t>(i) - task_ptr[low]) * each;
  task[i] = {.what = Task::pack(Work::long_groups, min(each, groups - from)),
             .stored = group_ptr[low] + from,
             .irregular = low,
             .row = static_cast<std::int32_t>(i)};
  key[i] = 0;
}

struct SortedOnDevice {
  ScratchBuffer<std::int32_t> row;
  std::array<std::int32_t, kBuckets + 1> start{};
};

SortedOnDevice sort_by_length(DeviceSpan<const std::int32_t> row_ptr, std::int64_t rows,
                              StreamRef stream) {
  ScratchBuffer<std::uint16_t> keys(rows, stream), sorted_keys(rows, stream);
  ScratchBuffer<std::int32_t> row(rows, stream);
  SortedOnDevice sorted{.row = {static_cast<std::size_t>(rows), stream}};
  bucket_keys<<<blocks_for(rows), kThreads, 0, stream>>>(rows, row_ptr.data(), keys.data(),
                                                         row.data());
  check_launch();
  constexpr int bits = std::bit_width(static_cast<unsigned>(kBuckets - 1));
  sort_pairs(keys.view(), sorted_keys.span(), row.view(), sorted.row.span(), bits, stream);
  ScratchBuffer<std::int32_t> start(kBuckets + 1, stream);
  bucket_starts<<<blocks_for(rows + 1), kThreads, 0, stream>>>(rows, sorted_keys.data(),
                                                               start.data());
  check_launch();
  copy_to_host<std::int32_t>(start.view(), sorted.start, stream);
  synchronize(stream);
  return sorted;
}

Plan plan_of(const SortedOnDevice& sorted, std::int32_t shortest_rows8) {
  std::array<std::int64_t, kMaxLen + 2> rows_of_length;
  rows_of_length[kMaxLen + 1] = sorted.start[1] - sorted.start[0];
  for (std::int32_t length = 0; length <= kMaxLen; ++length)
    rows_of_length[length] =
        sorted.start[kMaxLen + 2 - length] - sorted.start[kMaxLen + 1 - length];
  return make_plan(rows_of_length, shortest_rows8);
}

// Sets group_ptr and long_task_ptr, and reads their totals back.
template <class Stored>
void measure_long_rows(DeviceLayout<Stored>& layout, const std::int32_t* row_ptr,
                       StreamRef stream) {
  const std::int64_t size = layout.counts.long_rows + 1;
  layout.group_ptr = DeviceBuffer<std::int32_t>(size, stream);
  layout.long_task_ptr = DeviceBuffer<std::int32_t>(size, stream);
  measure_long<<<blocks_for(size), kThreads, 0, stream>>>(
      size - 1, row_ptr, layout.row_order.data(), layout.group_ptr.data(),
      layout.long_task_ptr.data());
  check_launch();
  std::int32_t groups = 0;
  if (size > 1) {
    for (const DeviceSpan<std::int32_t> sums :
         {layout.group_ptr.span(), layout.long_task_ptr.span()})
      inclusive_sum(sums, sums, stream);
    memory::copy(&groups, layout.group_ptr.data() + size - 1, sizeof groups, stream);
    layout.long_tasks = read_back(layout.long_task_ptr.data() + size - 1, stream);
  }
  layout.long_val = DeviceBuffer<Stored>(std::int64_t{groups} * 64, stream);
  layout.long_cid = DeviceBuffer<std::int32_t>(std::int64_t{groups} * 64, stream);
}

DeviceSpan<FourWords> words_of(DeviceSpan<Task> tasks) {
  static_assert(sizeof(Task) == sizeof(FourWords) && alignof(Task) == alignof(FourWords));
  return {reinterpret_cast<FourWords*>(tasks.data()), tasks.size()};
}

template <class Stored>
void schedule(DeviceLayout<Stored>& layout, const Plan& plan, const std::int32_t* row_ptr,
              StreamRef stream) {
  const auto long_tasks = static_cast<std::int32_t>(layout.long_tasks);
  const std::int64_t tasks = layout.long_tasks + plan.tasks;
  ScratchBuffer<Segment> segments(plan.segments.size(), stream);
  copy_to_device(std::span<const Segment>(plan.segments), segments.span(), stream);
  ScratchBuffer<Task> unsorted(tasks, stream);
  ScratchBuffer<std::uint32_t> keys(tasks, stream), sorted_keys(tasks, stream);
  if (long_tasks > 0) {
    make_long_tasks<<<blocks_for(long_tasks), kThreads, 0, stream>>>(
        long_tasks, static_cast<std::int32_t>(layout.counts.long_rows), layout.long_task_ptr.data(),
        layout.group_ptr.data(), unsorted.data(), keys.data());
    check_launch();
  }
  const MediumPointers pointers{
      .rowblock_ptr = layout.rowblock_ptr.data(),
      .irreg_ptr = layout.irreg_ptr.data(),
      .first_medium = layout.counts.first_medium(),
      .medium_rows = layout.counts.medium_rows,
      .row_blocks = plan.row_blocks,
      .regular_entries = static_cast<std::int32_t>(plan.regular_entries),
      .irregular_entries = static_cast<std::int32_t>(plan.irregular_entries)};
  make_tasks<<<blocks_for(std::max(plan.tasks, 1)), kThreads, 0, stream>>>(
      plan.tasks, segments.data(), static_cast<int>(plan.segments.size()), pointers, row_ptr,
      layout.row_order.data(), unsorted.data() + long_tasks, keys.data() + long_tasks);
  check_launch();
  layout.tasks = DeviceBuffer<Task>(tasks, stream);
  layout.heavy_tasks = long_tasks + plan.heavy_tasks;
  layout.light_entries = layout.stored_entries() -
                         static_cast<std::int64_t>(layout.long_val.size()) - plan.heavy_entries;
  if (tasks == 0) return;
  const int bits = std::bit_width(static_cast<std::uint64_t>(layout.rows));
  sort_pairs(keys.view(), sorted_keys.span(), words_of(unsorted.span()),
             words_of(layout.tasks.span()), bits, stream);
}

}  // namespace

template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, std::vector<BuildStep>& steps,
                                     StreamRef stream) {
  Stopwatch watch;
  const auto end_step = [&](const char* name) {
    synchronize(stream);
    steps.push_back({name, watch.lap()});
  };
  DeviceLayout<Stored> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  if (matrix.rows == 0) return layout;
  const SortedOnDevice sorted = sort_by_length(matrix.row_ptr, matrix.rows, stream);
  const Plan plan =
      plan_of(sorted, std::is_same_v<Stored, Half> ? kShortestRows8Fp16 : kShortestRows8);
  layout.counts = plan.counts;
  const auto first = [&](int length) { return std::int64_t{sorted.start[kMaxLen + 1 - length]}; };
  layout.row_order = DeviceBuffer<std::int32_t>(matrix.rows, stream);
  order_rows<<<blocks_for(matrix.rows), kThreads, 0, stream>>>(
      matrix.rows, sorted.row.data(),
      {plan.counts, first(4), first(3), first(2), first(1), first(0)}, layout.row_order.data());
  check_launch();
  end_step("sort rows by length");

  measure_long_rows(layout, matrix.row_ptr.data(), stream);
  const auto both = [&](DeviceBuffer<Stored>& val, DeviceBuffer<std::int32_t>& cid,
                        std::int64_t size) {
    val = DeviceBuffer<Stored>(size, stream);
    cid = DeviceBuffer<std::int32_t>(size, stream);
  };
  both(layout.reg_val, layout.reg_cid, plan.regular_entries);
  both(layout.irreg_val, layout.irreg_cid, plan.irregular_entries);
  both(layout.short_val, layout.short_cid, plan.counts.short_entries());
  layout.rowblock_ptr = DeviceBuffer<std::int32_t>(plan.row_blocks + 1, stream);
  layout.irreg_ptr = DeviceBuffer<std::int32_t>(plan.counts.medium_rows + 1, stream);
  end_step("measure and allocate");

  schedule(layout, plan, matrix.row_ptr.data(), stream);
  end_step("schedule");
  copy_entries(layout, matrix, stream);
  end_step("copy entries");
  narrow_columns(layout, matrix.row_ptr, stream);
  end_step("narrow columns");
  if (!std::is_same_v<Stored, Half>) find_shared_columns(layout, stream);
  end_step("find shared columns");
  return layout;
}

template DeviceLayout<double> build_on_device(const DeviceCsr<double>&, std::vector<BuildStep>&,
                                              StreamRef);
template DeviceLayout<float> build_on_device(const DeviceCsr<float>&, std::vector<BuildStep>&,
                                             StreamRef);
template DeviceLayout<Half> build_on_device(const DeviceCsr<Half>&, std::vector<BuildStep>&,
                                            StreamRef);
template DeviceLayout<float> build_on_device(const DeviceCsr<double>&, std::vector<BuildStep>&,
                                             StreamRef);

}  // namespace trireme::dasp
