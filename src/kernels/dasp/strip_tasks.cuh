// SPDX-License-Identifier: BSD-3-Clause
// What a warp does for each kind of DASP task (plan.hpp) in a product with a strip of vectors.
// strips.cu explains why it does so.
#pragma once

#include "kernels/dasp/shared_rows.cuh"
#include "kernels/dasp/uniform_rows.cuh"

namespace trireme::dasp {

// One row block, or four of them, of rows of the same length.
template <class Stored, class Strip>
__device__ __forceinline__ void row_blocks(const Product<Stored, typename Strip::Vector>& p,
                                           const Strip& strip, const Task& task, std::int32_t base,
                                           std::uint32_t same, const Group<Strip>& group) {
  const std::int32_t rows = items_per_task(task.work());
  prefetch(p.regular, static_cast<std::int64_t>(task.stored) * 32, task.size() / 4 * 4 * rows,
           base >= 0, group.lane);
  const std::uint32_t all = (1u << rows / 8) - 1;
  std::uint32_t left = all;
  if constexpr (kOnMatrixUnit<Strip>)
    if (same != 0 && share_columns(same, rows / 8))
      left = rows_that_share(p, strip, task, base, same, group);
#pragma unroll 1
  while (left != 0) {
    const std::int32_t first = 8 * (__ffs(left) - 1);
    const std::int32_t count = left == all ? rows : 8;
    left = left == all ? 0 : left & (left - 1);
    uniform_rows(p, strip, task, base, group, first, count / Strip::kGroups);
  }
}

// A row block of several lengths. Its lengths are long and its tasks are few.
template <class Stored, class Strip>
__device__ __forceinline__ void mixed_rows(const Product<Stored, typename Strip::Vector>& p,
                                           const Strip& strip, const Task& task,
                                           const Group<Strip>& group) {
  const ColumnsOfX<Strip> x(strip, -1, group.member);
  const std::int32_t first = task.row - p.first_medium;
  const std::int32_t* rowblock = p.rowblock_ptr + first / 8;
  const std::int32_t blocks = (rowblock[1] - rowblock[0]) / 32;
#pragma unroll 1
  for (std::int32_t row = group.number; row < 8; row += Strip::kGroups) {
    typename Strip::Sums sums = {};
    for_each_four<FourEntries<Stored>>(
        blocks,
        [&](std::int32_t i, FourEntries<Stored> & entries) __attribute__((always_inline)) {
          entries.load(p.regular, (static_cast<std::int64_t>(task.stored) + i) * 32 + row * 4,
                       false);
        },
        [&](std::int32_t, FourEntries<Stored> & entries) __attribute__((always_inline)) {
          add_four<true>(strip, x, entries, group.member, sums);
        });
    if (row >= task.size()) continue;
#pragma unroll 2
    for (std::int32_t at = p.irreg_ptr[first + row]; at < p.irreg_ptr[first + row + 1]; ++at) {
      typename Strip::Entries row_of_x;
      strip.gather(x.row(strip, __ldcs(p.irregular.cid + at)), group.member, row_of_x);
      add_one<Strip>(__ldcs(p.irregular.val + at), row_of_x, sums);
    }
    strip.put(p.caller_row(task, row), group.member, sums);
  }
}

// Each group takes every so many entries of the row, four at a time; the sums of the groups are
// added at the end. Where a long row has several tasks, the partial sums of each vector go the way
// of those of one vector (long_groups in warp_tasks.cuh).
template <class Stored, class Strip>
__device__ __forceinline__ void long_row(const Product<Stored, typename Strip::Vector>& p,
                                         const Strip& strip, const Task& task,
                                         const Group<Strip>& group) {
  constexpr int width = Strip::kWidth;
  constexpr int lanes = Strip::kLanes;
  const ColumnsOfX<Strip> x(strip, -1, group.member);
  const std::int64_t first_entry = static_cast<std::int64_t>(task.stored) * 64;
  prefetch(p.long_rows, first_entry, 64 * task.size(), false, group.lane);
  typename Strip::Sums sums = {};
  for_each_four<FourEntries<Stored>>(
      16 / Strip::kGroups * task.size(),
      [&](std::int32_t i, FourEntries<Stored> & entries) __attribute__((always_inline)) {
        entries.load(p.long_rows, first_entry + (i * Strip::kGroups + group.number) * 4, false);
      },
      [&](std::int32_t, FourEntries<Stored> & entries) __attribute__((always_inline)) {
        add_four<true>(strip, x, entries, group.member, sums);
      });
  add_over_groups<Strip>(sums);

  const std::int32_t number = task.irregular;
  const std::int32_t first = __ldg(p.long_task_ptr + number);
  const std::int32_t tasks = __ldg(p.long_task_ptr + number + 1) - first;
  if (tasks > 1) {
    auto* mine = p.partials + static_cast<std::int64_t>(task.row) * width;
    if (group.number == 0) {
#pragma unroll
      for (int i = 0; i < Strip::kEach; ++i) mine[group.member + lanes * i] = sums[i];
      __threadfence();
    }
    __syncwarp();
    std::uint32_t done_before = 0;
    if (group.lane == 0) done_before = atomicAdd(p.tickets + number, 1);
    if (__shfl_sync(kFullWarp, done_before, 0) + 1 < tasks) return;
    __threadfence();
    clear(sums);
#pragma unroll 4
    for (std::int32_t i = group.number; i < tasks; i += Strip::kGroups) {
      const auto* part = p.partials + static_cast<std::int64_t>(first + i) * width;
#pragma unroll
      for (int k = 0; k < Strip::kEach; ++k) sums[k] += __ldcg(part + group.member + lanes * k);
    }
    add_over_groups<Strip>(sums);
    if (group.lane == 0) p.tickets[number] = 0;
  }
  strip.put(group.number == 0 ? __ldg(p.row_order + number) : -1, group.member, sums);
}

// Short rows: each group takes the four entries of a piece, or four single entries.
template <class Stored, class Strip>
__device__ __forceinline__ void short_rows(const Product<Stored, typename Strip::Vector>& p,
                                           const Strip& strip, const Task& task, std::int32_t base,
                                           const Group<Strip>& group) {
  constexpr int at_once = Strip::kEach <= 2 ? 2 : 1;  // fours
  constexpr int groups = Strip::kGroups;
  const ColumnsOfX<Strip> x(strip, base, group.member);
  const Work work = task.work();
  const std::int32_t size = task.size();
  const bool single = work == Work::ones;
  const std::int32_t entries_per_row = single ? 1 : work == Work::pieces_4 ? 4 : 2;
  const std::int32_t rows = work == Work::pieces_13 ? 2 * size : size;
  const std::int32_t fours = (rows * entries_per_row + 3) / 4;
  const std::int64_t first =
      single ? p.first_one + task.stored : kPiece * static_cast<std::int64_t>(task.stored);
  // Bit k says that a row ends with entry k.
  const unsigned ends = work == Work::pieces_13   ? 0b1001u
                        : work == Work::pieces_22 ? 0b1010u
                        : single                  ? 0b1111u
                                                  : 0b1000u;
  prefetch(p.short_rows, first, 4 * fours, x.is_near, group.lane);
#pragma unroll 1
  for (std::int32_t four = group.number; four < fours; four += at_once * groups) {
    FourEntries<Stored> entries[at_once];
    typename Strip::Entries rows_of_x[at_once][4];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const std::int32_t mine = four + i * groups;
      entries[i].load_some(p.short_rows, first + 4 * mine,
                           mine >= fours ? 0
                           : single      ? size - 4 * mine
                                         : 4,
                           x.is_near);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      entries[i].unpack(x.is_near);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        strip.gather(x.row(strip, entries[i].column[k]), group.member, rows_of_x[i][k],
                     entries[i].value[k] != Stored(0));
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      typename Strip::Sums sums = {};
      std::int32_t item = (four + i * groups) * (4 / entries_per_row);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        add_one<Strip>(entries[i].value[k], rows_of_x[i][k], sums);
        if ((ends >> k & 1) == 0) continue;
        if (item < rows) strip.put(p.caller_row(task, item), group.member, sums);
        clear(sums);
        ++item;
      }
    }
  }
}

template <class Stored, class Strip>
__device__ __forceinline__ void multiply_task(const Task& task, std::int32_t base,
                                              std::uint32_t same,
                                              const Product<Stored, typename Strip::Vector>& p,
                                              const Strip& strip, const Group<Strip>& group) {
  switch (task.work()) {
    case Work::long_groups:
      return long_row(p, strip, task, group);
    case Work::rows32:
    case Work::rows8:
      return row_blocks(p, strip, task, base, same, group);
    case Work::mixed8:
      return mixed_rows(p, strip, task, group);
    case Work::empty: {
      const typename Strip::Sums zeros = {};
      for (std::int32_t i = group.number; i < task.size(); i += Strip::kGroups)
        strip.put(p.caller_row(task, i), group.member, zeros);
      return;
    }
    default:
      return short_rows(p, strip, task, base, group);
  }
}

}  // namespace trireme::dasp
