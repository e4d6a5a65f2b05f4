// SPDX-License-Identifier: BSD-3-Clause
// What follows from the row lengths alone: where each part of a DASP layout lies, and the warp
// tasks of the CUDA executor. Plain host code, O(max_len).
//
// The row blocks of one length follow each other and are all alike (layout.hpp), so a few hundred
// segments, each a run of equal tasks, describe any matrix:
//
//   medium rows:  100 of length 9                  60 of length 8
//   row blocks:   12 alike                 1 of both       7 alike
//   segments:     3 tasks rows32           1 mixed8        1 rows32, 3 rows8
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/dasp/layout.hpp"

namespace trireme::dasp {

// What one warp does in one go.
enum class Work : std::uint32_t {
  long_groups,  // some groups of a long row
  rows32,       // 32 medium rows of one length: four row blocks
  rows8,        // a row block of one length
  mixed8,       // a row block of several lengths, or the last, incomplete one
  pieces_13,
  pieces_4,
  pieces_22,
  ones,
  empty
};

// From this length on a warp takes 8 rows, not 32: by then they keep it busy.
inline constexpr std::int32_t kShortestRows8 = 32;
// In FP16 they are few bytes: it takes 32 up to this length, where rows of one length are so many
// that a GPU is full all the same.
inline constexpr std::int32_t kShortestRows8Fp16 = 96;
inline constexpr std::int64_t kManyRows = 1 << 17;
// Rows, pieces or entries a task of the short classes takes.
inline constexpr std::int32_t kPiecesPerTask = 32;
inline constexpr std::int32_t kOnesPerTask = 128;
inline constexpr std::int32_t kEmptyPerTask = 256;

// A run of `tasks` tasks of the same kind. Task t of it begins at
//   position  first_position + t * (rows a task)     in row_order,
//   stored    first_stored + t * (units a task)      in blocks (medium), pieces, or entries (ones),
//   irregular first_irregular + t * (entries a task) in irreg_val.
struct Segment {
  Work work{};
  std::int32_t length = 0;      // of each medium row; 0 for mixed8
  std::int32_t first_task = 0;  // in build order
  std::int32_t tasks = 0;
  std::int32_t first_position = 0;
  std::int32_t first_stored = 0;
  std::int32_t first_irregular = 0;
  std::int32_t items = 0;  // rows, pieces or entries in all its tasks
};

struct Plan {
  Counts counts;
  std::int32_t row_blocks = 0;
  std::int64_t regular_entries = 0;
  std::int64_t irregular_entries = 0;
  std::int32_t tasks = 0;          // beside those of long rows
  std::int32_t heavy_tasks = 0;    // among them
  std::int64_t heavy_entries = 0;  // that those take, at most
  std::vector<Segment> segments;   // in order of first_task
};

// rows_of_length[l]: how many rows have length l, 0 <= l <= kMaxLen; [kMaxLen + 1]: how many
// longer. shortest_rows8: where kManyRows rows have a length; elsewhere it is kShortestRows8.
// Throws Error{input} when a part has more than 2^31-1 stored entries.
Plan make_plan(std::span<const std::int64_t> rows_of_length,
               std::int32_t shortest_rows8 = kShortestRows8);

// One warp's work. `row` is a position in row_order; of a consecutive task it is the caller's first
// row, and row + i is the caller's row of item i.
struct alignas(16) Task {
  std::uint32_t what = 0;      // Work in bits 0..3, consecutive in bit 4, size from bit 8 on
  std::int32_t stored = 0;     // first block (medium), piece, entry (ones) or group (long)
  std::int32_t irregular = 0;  // first entry in irreg_val; of long_groups the index of the long row
  std::int32_t row = 0;        // of long_groups: the number of this task among those of long rows

  static constexpr std::uint32_t kConsecutive = 1u << 4;
  constexpr Work work() const { return static_cast<Work>(what & 15u); }
  constexpr bool consecutive() const { return (what & kConsecutive) != 0; }
  // Medium: the length of the rows (mixed8: how many rows); else how many rows, pieces or groups.
  constexpr std::int32_t size() const { return static_cast<std::int32_t>(what >> 8); }
  static constexpr std::uint32_t pack(Work work, std::int32_t size) {
    return static_cast<std::uint32_t>(work) | static_cast<std::uint32_t>(size) << 8;
  }
  bool operator==(const Task&) const = default;
};

// How many rows, pieces or entries each task of this kind takes; the last may take fewer.
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

// Tasks that take a warp several rounds of memory latency: they start first, one a warp.
inline constexpr std::int32_t kShortestHeavy = 96;
constexpr bool is_heavy(Work work, std::int32_t length) {
  return work == Work::mixed8 || (work == Work::rows8 && length >= kShortestHeavy);
}

// Task number `index` of a segment; `row` is a position.
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

// How many groups a task takes of a long row of `groups` groups: 512 entries, more where a row
// would otherwise have over 1024 partial sums.
constexpr std::int32_t groups_per_task(std::int32_t groups) {
  constexpr std::int32_t few = 8;
  constexpr std::int32_t max_partials = 1024;
  return groups > few * max_partials ? (groups + max_partials - 1) / max_partials : few;
}
constexpr std::int32_t tasks_of_long_row(std::int32_t groups) {
  return (groups + groups_per_task(groups) - 1) / groups_per_task(groups);
}

}  // namespace trireme::dasp
