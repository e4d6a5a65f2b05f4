// SPDX-License-Identifier: BSD-3-Clause
// Makes the segments of a DASP layout from a histogram of row lengths.
#include "kernels/dasp/plan.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace trireme::dasp {
namespace {

constexpr std::int32_t kBlockRows = 8;
constexpr std::int32_t kBlockCols = 4;
constexpr std::int32_t kBlockEntries = kBlockRows * kBlockCols;

class Planner {
 public:
  Planner(std::span<const std::int64_t> rows_of_length, std::int32_t shortest_rows8)
      : rows_of_(rows_of_length), shortest_rows8_(shortest_rows8) {
    count_classes();
    plan_medium();
    plan_short();
  }
  Plan take() { return std::move(plan_); }

 private:
  void count_classes() {
    Counts& counts = plan_.counts;
    counts.long_rows = rows_of_[kMaxLen + 1];
    for (std::int32_t length = kMaxLen; length > kPiece; --length)
      counts.medium_rows += rows_of_[length];
    counts.pieces_13 = std::min(rows_of_[1], rows_of_[3]);
    counts.fours = rows_of_[4];
    counts.threes = rows_of_[3] - counts.pieces_13;
    counts.twos = rows_of_[2];
    counts.ones = rows_of_[1] - counts.pieces_13;
    counts.empty = rows_of_[0];
  }

  void plan_medium() {
    const std::int64_t medium = plan_.counts.medium_rows;
    plan_.row_blocks = static_cast<std::int32_t>((medium + kBlockRows - 1) / kBlockRows);
    std::int32_t length = kMaxLen;
    std::int64_t end = rows_of_[length];  // the position after the last row of `length`
    for (std::int64_t position = 0; position < medium;) {
      while (position >= end) end += rows_of_[--length];
      const std::int64_t alike = (end - position) / kBlockRows;
      if (alike > 0) {
        const std::int64_t fours = takes_32(length) ? alike / 4 : 0;
        add_uniform(Work::rows32, length, position, fours, 4);
        add_uniform(Work::rows8, length, position + 32 * fours, alike - 4 * fours, 1);
        position += kBlockRows * alike;
      } else {
        add_mixed(length, end, position);
        position += kBlockRows;
      }
    }
    check(plan_.regular_entries, "regular");
    check(plan_.irregular_entries, "irregular");
  }

  // True where a warp takes 32 rows of this length.
  bool takes_32(std::int32_t length) const {
    return length < kShortestRows8 || (length < shortest_rows8_ && rows_of_[length] >= kManyRows);
  }

  void add_uniform(Work work, std::int32_t length, std::int64_t position, std::int64_t tasks,
                   std::int32_t row_blocks_per_task) {
    const std::int64_t rows = tasks * row_blocks_per_task * kBlockRows;
    add(work, length, position + plan_.counts.first_medium(), tasks, rows,
        plan_.regular_entries / kBlockEntries);
    plan_.regular_entries += rows * (length / kBlockCols) * kBlockCols;
    plan_.irregular_entries += rows * (length % kBlockCols);
  }

  // Adds the row block at `position`. The rows of `length` end at `end`, inside that row block.
  void add_mixed(std::int32_t length, std::int64_t end, std::int64_t position) {
    std::int32_t lengths[kBlockRows] = {};
    const std::int64_t last = std::min(position + kBlockRows, plan_.counts.medium_rows);
    for (std::int64_t row = position; row < last; ++row) {
      while (row >= end) end += rows_of_[--length];
      lengths[row - position] = length;
    }
    add(Work::mixed8, 0, position + plan_.counts.first_medium(), 1, last - position,
        plan_.regular_entries / kBlockEntries);
    const std::int32_t width =
        kBlockCols * regular_blocks<kBlockRows, kBlockCols>([&](int row) { return lengths[row]; });
    plan_.regular_entries += std::int64_t{width} * kBlockRows;
    for (const std::int32_t row_length : lengths)
      plan_.irregular_entries += std::max(0, row_length - width);
  }

  void plan_short() {
    const Counts& c = plan_.counts;
    const auto add_run = [&](Work work, std::int64_t position, std::int64_t items,
                             std::int64_t stored, std::int32_t items_per_task) {
      add(work, 0, position, (items + items_per_task - 1) / items_per_task, items, stored);
    };
    add_run(Work::pieces_13, c.first_13(), c.pieces_13, 0, kPiecesPerTask);
    add_run(Work::pieces_4, c.first_4(), c.fours, c.piece_4(), kPiecesPerTask);
    add_run(Work::pieces_4, c.first_4() + c.fours, c.threes, c.piece_4() + c.fours, kPiecesPerTask);
    add_run(Work::pieces_22, c.first_22(), c.twos, c.piece_22(), 2 * kPiecesPerTask);
    add_run(Work::ones, c.first_1(), c.ones, 0, kOnesPerTask);
    add_run(Work::empty, c.first_empty(), c.empty, 0, kEmptyPerTask);
  }

  void add(Work work, std::int32_t length, std::int64_t position, std::int64_t tasks,
           std::int64_t items, std::int64_t stored) {
    if (tasks == 0) return;
    plan_.segments.push_back({.work = work,
                              .length = length,
                              .first_task = plan_.tasks,
                              .tasks = static_cast<std::int32_t>(tasks),
                              .first_position = static_cast<std::int32_t>(position),
                              .first_stored = static_cast<std::int32_t>(stored),
                              .first_irregular = static_cast<std::int32_t>(plan_.irregular_entries),
                              .items = static_cast<std::int32_t>(items)});
    plan_.tasks += static_cast<std::int32_t>(tasks);
    if (is_heavy(work, length)) {
      plan_.heavy_tasks += static_cast<std::int32_t>(tasks);
      plan_.heavy_entries += items * length;
    }
  }

  static void check(std::int64_t entries, const char* part) {
    if (entries > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::input,
           "dasp: the {} part has more than 2147483647 stored entries; use more processes", part);
  }

  std::span<const std::int64_t> rows_of_;
  std::int32_t shortest_rows8_;
  Plan plan_;
};

}  // namespace

Plan make_plan(std::span<const std::int64_t> rows_of_length, std::int32_t shortest_rows8) {
  return Planner(rows_of_length, shortest_rows8).take();
}

}  // namespace trireme::dasp
