// SPDX-License-Identifier: BSD-3-Clause
#include "factors/cuda/sweep_layout.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace trireme::factors {
namespace {

// A row gets so many lanes that none has more entries, while there are lanes.
constexpr std::int32_t kEntriesOfLane = 4;

// Lengths of one key hardly differ.
constexpr std::int32_t key_of(std::int32_t length) {
  return length < 64 ? length : 62 + length / 32;
}

int log_lanes_for(std::int32_t length) {
  const auto wanted = static_cast<unsigned>((length + kEntriesOfLane - 1) / kEntriesOfLane);
  return wanted <= 1 ? 0 : std::min(5, static_cast<int>(std::bit_width(wanted - 1)));
}

// A level of L or of U, whose positions are rows without parts, then parts, then rows of parts.
struct Level {
  std::span<const std::int32_t> rows;
  bool is_lower = true;
  std::int64_t parts = 0, rows_of_parts = 0;
  std::int64_t position = 0, slice = 0, start = 0;  // where it begins; a start is 32 entries
  std::int64_t slices = 0, steps = 0;               // how many it has

  std::int64_t count() const { return std::ssize(rows) + parts; }
  std::int64_t first_part() const { return position + std::ssize(rows) - rows_of_parts; }
  std::int64_t first_of_parts() const { return first_part() + parts; }
  std::int64_t end() const { return position + count(); }
};

class Layout {
 public:
  Layout(const FactorPattern& pattern, std::int32_t longest) : p_(pattern), longest_(longest) {}

  SweepLayout make() {
    list_levels();
    for_each_level([&](Level& level) { count_parts(level); });
    for (std::size_t l = 0; l < levels_.size(); ++l)
      if (l > 0) levels_[l].position = levels_[l - 1].end();
    const std::int64_t count = levels_.empty() ? 0 : levels_.back().end();
    require_numbers(count);
    made_.rows.resize(count);
    made_.firsts.resize(count);
    made_.lengths.resize(count);
    // Allocated before threads sort.
    starts_.resize(static_cast<std::size_t>(omp_get_max_threads()),
                   Array<std::int64_t>(key_of(std::min(longest_, most_entries_)) + 1));
    for_each_level([&](Level& level) { sort(level); });
    count_slices();
    for_each_level([&](Level& level) { cut(level); });
    made_.levels = std::ssize(levels_);
    return std::move(made_);
  }

 private:
  std::int32_t first(std::int32_t row, bool is_lower) const {
    return is_lower ? p_.row_ptr[row] : p_.diagonal[row] + 1;
  }
  std::int32_t length(std::int32_t row, bool is_lower) const {
    return (is_lower ? p_.diagonal[row] : p_.row_ptr[row + 1]) - first(row, is_lower);
  }

  template <class Work>
  void for_each_level(const Work& work) {
    const std::int64_t count = std::ssize(levels_);
#pragma omp parallel for schedule(dynamic, 8) if (p_.rows > kRowsOfOneThread)
    for (std::int64_t l = 0; l < count; ++l) work(levels_[l]);
  }

  static void require_numbers(std::int64_t count) {
    if (count > kMostNonzerosOfBlock)
      fail(ExitCode::resource, "incomplete factors are too large for a GPU; use more processes");
  }

  void list_levels() {
    levels_.reserve(p_.lower.count() + p_.upper.count());
    for (const Levels* levels : {&p_.lower, &p_.upper})
      for (std::int64_t l = 0; l < levels->count(); ++l)
        levels_.push_back(
            {.rows = std::span<const std::int32_t>(levels->rows)
                         .subspan(levels->starts[l], levels->starts[l + 1] - levels->starts[l]),
             .is_lower = levels == &p_.lower});
    std::int32_t most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) if (p_.rows > kRowsOfOneThread)
    for (std::int64_t i = 0; i < p_.rows; ++i)
      most = std::max(most, p_.row_ptr[i + 1] - p_.row_ptr[i]);
    most_entries_ = most;
  }

  void count_parts(Level& level) const {
    if (most_entries_ <= longest_) return;
    for (const std::int32_t row : level.rows) {
      const std::int32_t entries = length(row, level.is_lower);
      if (entries <= longest_) continue;
      level.parts += (entries + longest_ - 1) / longest_;
      ++level.rows_of_parts;
    }
  }

  void put(std::int64_t position, std::int32_t row, std::int32_t first_entry,
           std::int32_t entries) {
    made_.rows[position] = row;
    made_.firsts[position] = first_entry;
    made_.lengths[position] = entries;
  }

  // A counting sort of the rows without parts by descending keys.
  void sort(const Level& level) {
    Array<std::int64_t>& starts = starts_[omp_get_thread_num()];
    std::int32_t last = 0;  // key of the level
    std::int64_t part = level.first_part(), of_parts = level.first_of_parts();
    std::ranges::fill(starts, 0);
    for (const std::int32_t row : level.rows) {
      const std::int32_t entries = length(row, level.is_lower);
      if (entries > longest_) continue;
      last = std::max(last, key_of(entries));
      ++starts[key_of(entries)];
    }
    std::int64_t start = level.position;
    for (std::int32_t key = last; key >= 0; --key) {
      const std::int64_t count = starts[key];
      starts[key] = start;
      start += count;
    }
    for (const std::int32_t row : level.rows) {
      const std::int32_t entries = length(row, level.is_lower), at = first(row, level.is_lower);
      if (entries <= longest_) {
        put(starts[key_of(entries)]++, row, at, entries);
        continue;
      }
      put(of_parts++, row, static_cast<std::int32_t>(-1 - part),
          (entries + longest_ - 1) / longest_);
      for (std::int32_t done = 0; done < entries; done += longest_)
        put(part++, kPart, at + done, std::min(longest_, entries - done));
    }
  }

  // Calls visit(position, rows, logarithm of lanes, steps) for each slice.
  template <class Visit>
  void for_each_slice(const Level& level, const Visit& visit) const {
    const auto within = [&](std::int64_t from, std::int64_t to, bool are_parts) {
      while (from < to) {
        const int log_lanes = log_lanes_for(are_parts ? longest_ : made_.lengths[from]);
        const std::int64_t end = std::min(to, from + (32 >> log_lanes));
        const std::int32_t most =
            *std::max_element(made_.lengths.begin() + from, made_.lengths.begin() + end);
        visit(from, end - from, log_lanes, (most + (1 << log_lanes) - 1) >> log_lanes);
        from = end;
      }
    };
    within(level.position, level.first_part(), false);
    within(level.first_part(), level.first_of_parts(), true);
    within(level.first_of_parts(), level.end(), false);
  }

  void count_slices() {
    for_each_level([&](Level& level) {
      for_each_slice(level, [&](std::int64_t, std::int64_t, int, std::int32_t steps) {
        ++level.slices;
        level.steps += steps;
      });
    });
    std::int64_t slice = 0, start = 0;
    for (Level& level : levels_) {
      level.slice = slice;
      level.start = start;
      slice += level.slices;
      start += level.steps;
      if (!level.is_lower) continue;
      made_.lower_count = level.end();
      made_.lower_slices = slice;
    }
    require_numbers(start);
    made_.entries = 32 * start;
    made_.slices.resize(slice);
  }

  void cut(const Level& level) {
    std::int64_t slice = level.slice, start = level.start;
    for_each_slice(
        level, [&](std::int64_t position, std::int64_t rows, int log_lanes, std::int32_t steps) {
          made_.slices[slice++] = {static_cast<std::int32_t>(position),
                                   static_cast<std::int32_t>(start), steps,
                                   Slice::shape_of(static_cast<std::int32_t>(rows), log_lanes)};
          start += steps;
        });
  }

  const FactorPattern& p_;
  std::int32_t longest_, most_entries_ = 0;
  std::vector<Level> levels_;
  std::vector<Array<std::int64_t>> starts_;  // of each thread
  SweepLayout made_;
};

}  // namespace

SweepLayout lay_out(const FactorPattern& pattern, std::int32_t longest) {
  return Layout(pattern, longest).make();
}

}  // namespace trireme::factors
