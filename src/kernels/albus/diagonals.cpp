// SPDX-License-Identifier: BSD-3-Clause
// Finds diagonals.
#include "kernels/albus/diagonals.hpp"

#include <algorithm>

namespace trireme::albus {

bool DiagonalRuns::continues_after(std::int64_t row) const {
  const std::int32_t count = length(row);
  if (count == 0 || count != length(row + 1)) return false;
  const std::int32_t* const above = col_idx_.data() + row_ptr_[row];
  const std::int32_t* const below = above + count;
  constexpr std::int32_t kBlock = 16;  // which compilers compare in SIMD instructions
  std::int32_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    std::int32_t changed = 0;
    for (std::int32_t i = k; i < k + kBlock; ++i) changed |= (above[i] + 1) ^ below[i];
    if (changed != 0) return false;
  }
  return std::equal(above + k, above + count, below + k,
                    [](std::int32_t a, std::int32_t b) { return a + 1 == b; });
}

std::int64_t DiagonalRuns::end_of(std::int64_t row) {
  if (row < run_begin_ || row >= run_end_) {
    run_begin_ = row;
    run_end_ = row + 1;
    while (run_end_ < end_row_ && continues_after(run_end_ - 1)) ++run_end_;
  }
  const std::int64_t rows = run_end_ - row;
  return rows >= kSliceRows && bytes_saved(row, rows) > 0 ? run_end_ : row;
}

// A narrow column takes two bytes, and a gather the time of about four; diagonals save both. They
// take an offset per column. Their window and the next one take descriptions, runs and a
// mispredicted branch each.
std::int64_t DiagonalRuns::bytes_saved(std::int64_t row, std::int64_t rows) const {
  constexpr std::int64_t kColumnAndGather = 6, kOffset = 4, kTwoWindows = 200;
  return length(row) * (kColumnAndGather * rows - kOffset) - kTwoWindows;
}

bool pay_as_diagonals(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
                      std::int64_t first_row, std::int64_t last_row, bool beside_slices) {
  constexpr double kTenthOfNonzero = 1, kMostOfColumnAndGather = 5;  // bytes
  DiagonalRuns runs(row_ptr, col_idx, last_row);
  std::int64_t saved = 0;
  for (std::int64_t row = first_row; row < last_row;) {
    const std::int64_t end = runs.end_of(row);
    if (end > row) saved += runs.bytes_saved(row, end - row);
    row = std::max(end, row + 1);
  }
  return static_cast<double>(saved) >
         (beside_slices ? kMostOfColumnAndGather : kTenthOfNonzero) *
             static_cast<double>(row_ptr[last_row] - row_ptr[first_row]);
}

std::int32_t add_offsets(std::span<const std::int32_t> columns, std::int32_t row, Part& part) {
  Array<std::int32_t>& offsets = part.offsets;
  const auto same = [&](std::int32_t column, std::int32_t offset) {
    return column - row == offset;
  };
  if (offsets.size() >= columns.size() &&
      std::equal(columns.begin(), columns.end(), offsets.end() - std::ssize(columns), same))
    return static_cast<std::int32_t>(offsets.size() - columns.size());
  const auto first = static_cast<std::int32_t>(offsets.size());
  for (const std::int32_t column : columns) offsets.push_back(column - row);
  return first;
}

}  // namespace trireme::albus
