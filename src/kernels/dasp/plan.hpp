// SPDX-License-Identifier: BSD-3-Clause
// Everything that follows from the row lengths alone: where each part of a DASP layout lies, and
// the warp tasks of the CUDA executor. The plan is made on the host in O(max_len) time.
//
// Row blocks of rows of the same length are adjacent and have the same structure (layout.hpp). A
// segment is a run of equal tasks, so that a few hundred segments describe any matrix:
//
//   medium rows:  100 of length 9          |        60 of length 8
//   row blocks:   12 of length 9           | 1 of both lengths | 7 of length 8
//   segments:     3 tasks rows32           | 1 task mixed8     | 1 task rows32, 3 tasks rows8
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/dasp/layout.hpp"
#include "kernels/dasp/tuning.hpp"

namespace trireme::dasp {

// The kind of a task, which one warp does.
enum class Work : std::uint32_t {
  long_groups,  // some groups of a long row
  rows32,       // 32 medium rows of the same length: four row blocks
  rows8,        // a row block whose rows have the same length
  mixed8,       // a row block of several lengths, or the last row block, which may be incomplete
  pieces_13,
  pieces_4,
  pieces_22,
  ones,
  empty
};

// A run of `tasks` tasks of the same kind. Task t of the segment begins at
//   position  first_position + t * (rows per task)      in row_order,
//   stored    first_stored + t * (units per task)       in blocks, pieces or entries (see Task),
//   irregular first_irregular + t * (entries per task)  in irreg_val.
struct Segment {
  Work work{};
  std::int32_t length = 0;      // of each medium row; 0 for mixed8
  std::int32_t first_task = 0;  // in build order
  std::int32_t tasks = 0;
  std::int32_t first_position = 0;
  std::int32_t first_stored = 0;
  std::int32_t first_irregular = 0;
  std::int32_t items = 0;  // rows, pieces or entries of all tasks together
};

struct Plan {
  Counts counts;
  std::int32_t row_blocks = 0;
  std::int64_t regular_entries = 0;
  std::int64_t irregular_entries = 0;
  std::int32_t tasks = 0;          // all tasks except those of long rows
  std::int32_t heavy_tasks = 0;    // those of `tasks` that is_heavy() accepts
  std::int64_t heavy_entries = 0;  // an upper bound of the entries of the heavy tasks
  std::vector<Segment> segments;   // in the order of first_task
};

// rows_of_length[l] is the number of rows of length l for 0 <= l <= kMaxLen;
// rows_of_length[kMaxLen + 1] is the number of longer rows. A length that at least kManyRows rows
// have is compared with shortest_rows8, any other length with kShortestRows8. Throws Error{input}
// when a part has more than 2^31-1 stored entries.
Plan make_plan(std::span<const std::int64_t> rows_of_length,
               std::int32_t shortest_rows8 = kShortestRows8);

// The work of one warp. The rows of a consecutive task are neighbours in the caller's order: `row`
// is then the caller's first row, and row + i is the caller's row of item i. In any other task
// `row` is a position in row_order. A long_groups task uses two members differently, see below.
struct alignas(16) Task {
  std::uint32_t what = 0;      // Work in bits 0..3, consecutive in bit 4, size from bit 8 on
  std::int32_t stored = 0;     // first block (medium), piece, entry (ones) or group (long)
  std::int32_t irregular = 0;  // first entry in irreg_val; for long_groups: index of the long row
  std::int32_t row = 0;        // for long_groups: number of this task among those of all long rows

  static constexpr std::uint32_t kConsecutive = 1u << 4;
  constexpr Work work() const { return static_cast<Work>(what & 15u); }
  constexpr bool consecutive() const { return (what & kConsecutive) != 0; }
  // rows32 and rows8: the length of the rows; mixed8: the number of rows; all other kinds: the
  // number of rows, pieces or groups.
  constexpr std::int32_t size() const { return static_cast<std::int32_t>(what >> 8); }
  static constexpr std::uint32_t pack(Work work, std::int32_t size) {
    return static_cast<std::uint32_t>(work) | static_cast<std::uint32_t>(size) << 8;
  }
  bool operator==(const Task&) const = default;
};

// Rows, pieces or entries per task of this kind; the last task may have fewer.
constexpr std::int32_t items_per_task(Work work) {
  switch (work) {
    case Work::rows32:
      return 32;
    case Work::rows8:
    case Work::mixed8:
      return 8;
    case Work::pieces_22:
      return 2 * kPiecesPerTask;
    case Work::ones:
      return kOnesPerTask;
    case Work::empty:
      return kEmptyPerTask;
    default:
      return kPiecesPerTask;
  }
}

// Heavy tasks are started first, one task per warp.
constexpr bool is_heavy(Work work, std::int32_t length) {
  return work == Work::mixed8 || (work == Work::rows8 && length >= kShortestHeavy);
}

// Task number `index` of a segment. Its `row` is a position in row_order.
constexpr Task task_of(const Segment& segment, std::int32_t index) {
  const std::int32_t items = items_per_task(segment.work);
  const std::int32_t left = segment.items - index * items;
  const std::int32_t here = left < items ? left : items;
  Task task;
  task.row = segment.first_position + index * items * (segment.work == Work::pieces_13 ? 2 : 1);
  switch (segment.work) {
    case Work::rows32:
    case Work::rows8:
      task.what = Task::pack(segment.work, segment.length);
      task.stored = segment.first_stored + index * (items / 8) * (segment.length / 4);
      task.irregular = segment.first_irregular + index * items * (segment.length % 4);
      return task;
    case Work::pieces_22:
      task.stored = segment.first_stored + index * kPiecesPerTask;
      break;
    default:
      task.stored = segment.first_stored + index * items;
  }
  task.irregular = segment.first_irregular;
  task.what = Task::pack(segment.work, here);
  return task;
}

// same[row] says that a row of the row block has the same columns as the row before it.
constexpr std::int32_t column_lists(std::uint32_t same) { return 8 - std::popcount(same & 0xffu); }
// `same` has 8 bits per row block.
constexpr bool share_columns(std::uint32_t same, std::int32_t row_blocks) {
  for (std::int32_t i = 0; i < row_blocks; ++i)
    if (column_lists(same >> 8 * i) > kMaxColumnLists) return false;
  return true;
}

// Groups per task for a long row of `groups` groups.
constexpr std::int32_t groups_per_task(std::int32_t groups) {
  return groups > kGroupsPerTask * kMaxPartials ? (groups + kMaxPartials - 1) / kMaxPartials
                                                : kGroupsPerTask;
}
constexpr std::int32_t tasks_of_long_row(std::int32_t groups) {
  return (groups + groups_per_task(groups) - 1) / groups_per_task(groups);
}

}  // namespace trireme::dasp
