// SPDX-License-Identifier: BSD-3-Clause
// SELL: sliced ELLPACK for wide loads, with fewer bytes where nothing is lost by it.
//
// After Kreutzer et al., "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units", SIAM J. Sci. Comput. 36
// (2014), section 3 (SELL-C-sigma); here C = 32, 64 or 128.
//
// A slice is 32 lanes of 1, 2 or 4 rows. A lane's rows are 32 apart in the matrix and side by side
// in memory, so that it loads all of them with one wide load while the gathers of x stay next to
// each other. With 2 rows a lane:
//
//   slice of 64 rows, 3 steps (the j-th entry of every row is step j):
//
//     step 0 | r0 r32 | r1 r33 | r2 r34 | ... | r31 r63 |     base[0], 64 offsets, 64 values
//     step 1 | r0 r32 | r1 r33 |   .  . | ... | r31  .  |     base[1]   '.' is padding: offset
//     step 2 | r0  .  |  .  .  |   .  . | ... |  .   .  |     base[2]   0xffff, no x is read
//              lane 0   lane 1   lane 2         lane 31
//
// Columns: the 16-bit distance from the smallest column of the step (`base`), where that is enough
// for every step of the matrix; else the 32-bit column. Values of a double matrix: FP32 where every
// value is exactly representable, so that nothing is rounded; else FP64. Both are found at build.
// Rows stay in the caller's order where that pads at most 5%; else they are sorted by length within
// windows of 8192 rows, and y is still stored in the caller's order. Rows much longer than the mean
// are kept apart, as CSR. Lanes have 4 rows with 16-bit columns, 2 with 32-bit columns (16-byte
// loads of FP32 values or of columns), 1 in a small matrix, which needs more warps.
//
// Bytes a nonzero (double): 8 + 4, 8 + 2 or 4 + 2, and up to 4/32 for base; a row: 8, and 4 when
// sorted.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

inline constexpr int kLanes = 32;
inline constexpr int kMaxLaneRows = 4;
inline constexpr std::int64_t kSmallMatrix = 1 << 17;   // rows below which a lane has one
inline constexpr std::int64_t kWindow = 8192;           // rows sorted among themselves
inline constexpr std::int64_t kLargestOffset = 0xfffe;  // above the base column of a step
inline constexpr std::uint16_t kNoOffset = 0xffff;      // padding
inline constexpr std::int32_t kNoColumn = -1;           // padding

constexpr int rows_of_lane(std::int64_t rows, bool narrow) {
  return rows < kSmallMatrix ? 1 : narrow ? kMaxLaneRows : 2;
}
// Where row `slot` of a slice lies among the numbers of a step.
constexpr int position(int slot, int lane_rows) {
  return slot % kLanes * lane_rows + slot / kLanes;
}

// Rows with more nonzeros than this are kept apart.
std::int64_t longest_row(std::int64_t rows, std::int64_t nnz);
// Is the caller's order good enough? natural_entries: stored entries, padding too, in that order.
bool keeps_order(std::int64_t nnz, std::int64_t long_rows, std::int64_t natural_entries);

// Ascending keys sort the rows of a window from long to short; long rows come last of all.
inline constexpr std::uint32_t kLongRow = 0xffffffffu;
constexpr std::uint32_t sort_key(std::int64_t row, std::int64_t length, std::int64_t longest) {
  if (length > longest) return kLongRow;
  return static_cast<std::uint32_t>(row / kWindow * (longest + 1) + (longest - length));
}

// How the arrays are coded.
struct Code {
  bool sorted = false;   // row_order is used
  bool narrow = false;   // base and offsets; else columns
  bool singles = false;  // singles; else values
  int lane_rows = 1;

  int slice_size() const { return kLanes * lane_rows; }
};

// In host memory. Value: double or float.
template <class Value>
struct Layout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  Code code;
  Array<std::int32_t> row_order;  // sorted: the caller's row of each row of the slices
  Array<std::int32_t> slice_ptr;  // slices + 1: first step of each
  Array<std::int32_t> base;       // a step; narrow
  Array<std::uint16_t> offsets;   // slice_size() a step; narrow
  Array<std::int32_t> columns;    // likewise; not narrow
  Array<Value> values;            // likewise; not singles
  Array<float> singles;           // likewise; singles
  Array<std::int32_t> long_rows;  // the caller's rows that are kept apart, as this CSR:
  CsrMatrix<Value> apart;

  std::int64_t slices() const { return static_cast<std::int64_t>(slice_ptr.size()) - 1; }
  std::int64_t steps() const { return slice_ptr.back(); }
  std::int64_t slice_rows() const { return rows - static_cast<std::int64_t>(long_rows.size()); }
  std::int64_t caller_row(std::int64_t row) const { return code.sorted ? row_order[row] : row; }
};

}  // namespace trireme::sell
