// SPDX-License-Identifier: BSD-3-Clause
// Windows of slices: masked diagonals and sorted slices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/albus/layout.hpp"

namespace trireme::albus {

// Finds rows of one part that multiply faster in slices, and adds their windows to the part.
class SliceBuilder {
 public:
  SliceBuilder(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
               std::int64_t cols, bool beyond_core_cache, Part& part);

  struct Rows {
    std::int64_t begin = 0, end = 0;
  };

  // Returns the next rows of [row, end) that save time as masked diagonals, or {end, end}. The rows
  // are whole slices. `grouped(first)` tells whether the slice that begins with this row has
  // groups.
  template <class Grouped>
  Rows next_diagonals(std::int64_t row, std::int64_t end, const Grouped& grouped) {
    // Where one slice after the other saves nothing, fewer and fewer of the next ones are looked
    // at.
    for (std::int64_t failures = 0; row + kSliceRows <= end; ++failures) {
      found_.clear();
      std::int64_t last = row;
      while (last + kSliceRows <= end && find_diagonals(last, grouped(last))) last += kSliceRows;
      if (last - row >= kFewestSlices * kSliceRows) return {row, last};
      row = last + kSliceRows * (1 + failures / 4);
    }
    return {end, end};
  }

  // Adds the windows of the rows that next_diagonals() has returned.
  void add_diagonals(Rows rows);

  // Adds a window of the rows [begin, end) in sorted slices if this saves time. Returns whether it
  // did.
  bool add_sorted(std::int64_t begin, std::int64_t end);

  // The most rows of a sorted window, and the nonzeros of a row that is too long for one.
  static constexpr std::int64_t kSortedRows = 256, kTooLong = 64;

  // Where the part has slices, the values of `window`, whose rows end with `end`, are stored in the
  // order of the CSR.
  void keep_in_order(Window& window, std::int64_t end);

 private:
  static constexpr std::int64_t kFewestSlices = 4;  // of a window of masked diagonals

  std::int32_t length(std::int64_t row) const { return row_ptr_[row + 1] - row_ptr_[row]; }
  bool find_diagonals(std::int64_t row, bool grouped);
  Window window_at(std::int64_t row) const;
  std::int64_t sort_rows(std::int64_t begin, std::int64_t end);
  void add_sorted_slice(std::span<const std::int32_t> rows, const Window& window);

  // Masked diagonals that are not in the part yet.
  struct Diagonals {
    std::vector<Steps> steps;  // by slice
    std::vector<std::int32_t> offsets;
    std::vector<std::uint8_t> masks;

    void clear() {
      steps.clear();
      offsets.clear();
      masks.clear();
    }
  };

  std::span<const std::int32_t> row_ptr_;
  std::span<const std::int32_t> col_idx_;
  std::int64_t cols_;
  bool beyond_core_cache_;
  Part& part_;
  Diagonals found_;          // by next_diagonals()
  std::int64_t stored_ = 0;  // values of the windows so far
  std::vector<std::int32_t> rows_of_length_;
  std::vector<std::int32_t> sorted_;  // rows
};

// Copies the values of a window of slices, whose first nonzero is *from, to *to (simd_slices.cpp).
void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, double* to);
void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, float* to);
void place_slices(const Pattern& pattern, const Part& part, const Window& window, const float* from,
                  float* to);
void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const std::int32_t* from, std::int32_t* to);

}  // namespace trireme::albus
