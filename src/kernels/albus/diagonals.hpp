// SPDX-License-Identifier: BSD-3-Clause
// Windows of diagonals: rows whose columns are those of the row before, moved by one.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/albus/layout.hpp"

namespace trireme::albus {

// Finds such rows among the rows before `end_row`. Each row is compared with the next one once,
// where the rows are asked for in their order.
class DiagonalRuns {
 public:
  DiagonalRuns(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
               std::int64_t end_row)
      : row_ptr_(row_ptr), col_idx_(col_idx), end_row_(end_row) {}

  // The rows [row, result) save time as diagonals, and are a slice at least. The result is `row`
  // where there are no such rows.
  std::int64_t end_of(std::int64_t row);
  // The bytes that a product could read in the time that the rows [row, end_of(row)) save.
  std::int64_t bytes_saved(std::int64_t row, std::int64_t rows) const;

 private:
  std::int32_t length(std::int64_t row) const { return row_ptr_[row + 1] - row_ptr_[row]; }
  bool continues_after(std::int64_t row) const;

  std::span<const std::int32_t> row_ptr_;
  std::span<const std::int32_t> col_idx_;
  std::int64_t end_row_;
  std::int64_t run_begin_ = 0, run_end_ = 0;  // the rows that were found last
};

// Whether the diagonals of the rows [first_row, last_row) save a tenth of the time of their
// product, or nearly all of what they can save where the rows could be in slices.
bool pay_as_diagonals(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
                      std::int64_t first_row, std::int64_t last_row, bool beside_slices);

// The distances of the columns of `row` from the row. Returns their index in part.offsets, where
// those of the last window of diagonals stay if they are the same.
std::int32_t add_offsets(std::span<const std::int32_t> columns, std::int32_t row, Part& part);

// Copies the values of a window of diagonals, whose first nonzero is *from, into slices
// (simd_slices.cpp). Returns whether the type of *to represents all of them exactly.
bool place_diagonals(const double* from, Run run, double* to);
bool place_diagonals(const double* from, Run run, float* to);
bool place_diagonals(const float* from, Run run, float* to);
bool place_diagonals(const std::int32_t* from, Run run, std::int32_t* to);

}  // namespace trireme::albus
