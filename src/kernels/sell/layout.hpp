// SPDX-License-Identifier: BSD-3-Clause
// The SELL layout: sliced ELLPACK for wide loads, stored in fewer bytes where that is exact.
//
// After Kreutzer et al., "A unified sparse matrix data format for efficient general sparse
// matrix-vector multiplication on modern processors with wide SIMD units", SIAM J. Sci. Comput. 36
// (2014), section 3 (SELL-C-sigma). Here C = 32, 64 or 128.
//
// A slice has 32 lanes of 1, 2 or 4 rows. The rows of a lane are 32 apart in the matrix and
// adjacent in memory: one wide load brings an entry of each of them, and the gathers of
// neighbouring lanes still go to neighbouring entries of x. With 2 rows per lane:
//
//   slice of 64 rows, 3 steps (the j-th entry of every row is step j):
//
//     step 0 | r0 r32 | r1 r33 | r2 r34 | ... | r31 r63 |     base[0], 64 offsets, 64 values
//     step 1 | r0 r32 | r1 r33 |   .  . | ... | r31  .  |     base[1]   '.' is padding: offset
//     step 2 | r0  .  |  .  .  |   .  . | ... |  .   .  |     base[2]   0xffff, no x is read
//              lane 0   lane 1   lane 2         lane 31
//
// The pattern of a row is the list of the differences (column - row) of its entries, in their
// order. A matrix from a regular grid has few patterns, however many rows it has. They are stored
// once, and each row has the number of its pattern, in the order of position():
//
//   tridiagonal matrix of n rows:
//     differences   | x x x x | 0 1 x x | -1 0 1 x | -1 0 x x |     pattern_width 4, 'x' is
//                     0         1         2          3              kNoDifference
//     patterns      | 1 2 2 2 .. 2 2 3 |                            pattern 0 has no entries
//
// Rows repeat where the entries that they have in common with their pattern are equal in value too,
// as on a regular grid with constant coefficients. A pattern then has values as well, and the
// matrix has no others:
//
//     values        | 0 0 x x | 2 -1 x x | -1 2 -1 x | -1 2 x x |   'x' is 0
//
// The build decides the following:
//   Rows     They are stored as repeated rows where they have few patterns with values
//            (few_repeated_rows()) and no row is kept apart. New values that do not repeat in the
//            same way are stored one by one from then on. On GPUs, large matrices of repeated rows
//            in FP32 are multiplied by groups of 4 neighbouring rows, where these repeat too.
//   Columns  A row has a pattern where all rows together have few of them (few_patterns()).
//            Otherwise a column is stored as the 16-bit distance from the smallest column of its
//            step (`base`) where that is enough for every step of the matrix, and in 32 bits
//            otherwise.
//   Values   A double matrix is stored in FP32 where FP32 represents every value exactly, so that
//            nothing is rounded, and in FP64 otherwise.
//   Order    The rows stay in the caller's order where that pads at most 5 %. Otherwise they are
//            sorted by length within windows of 8192 rows. y is in the caller's order either way.
//   Apart    Rows that are much longer than the mean are kept apart, as a CSR. Where they hold more
//            than a tenth of the nonzeros, all rows take another layout instead (ragged.hpp).
//   Lanes    A lane has 4 rows with patterns or 16-bit columns and 2 rows with 32-bit columns,
//            which makes loads of 16 bytes. In a small matrix, and of repeated rows, it has 1 row
//            (is_small()).
//
// Bytes moved per nonzero (double): 8, 4 or for repeated rows 0 for the value, 4, 2 or with
// patterns 0 for the column, and up to 4/32 for `base`; per row: 8, 2 more with patterns, and 4
// more where the rows are sorted.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "kernels/sell/tuning.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

inline constexpr int kLanes = 32;
inline constexpr std::int64_t kLargestOffset = 0xfffe;          // from the base column of a step
inline constexpr std::uint16_t kNoOffset = 0xffff;              // padding
inline constexpr std::int32_t kNoColumn = -1;                   // padding
inline constexpr std::int32_t kNoDifference = -0x7fffffff - 1;  // padding of a pattern

enum class PatternId : std::uint16_t {};  // 0: the pattern of rows without entries

// The number of differences that each pattern is padded to; `longest` is the longest row.
constexpr std::int32_t pattern_width(std::int32_t longest) { return (longest + 7) / 8 * 8; }
// True where the differences of `patterns` patterns stay in the L1 cache and take at most a quarter
// of the bytes of 16-bit columns.
constexpr bool few_patterns(std::int64_t patterns, std::int32_t width, std::int64_t nnz) {
  const std::int64_t differences = patterns * width;
  return patterns <= kMaxPatterns && differences <= kMaxDifferences && 8 * differences <= nnz;
}
// The same where a pattern has values too.
constexpr bool few_repeated_rows(std::int64_t patterns, std::int32_t width, std::int64_t nnz) {
  return few_patterns(patterns, width, nnz) && patterns * width <= kMaxRepeated;
}
// The hash of a pattern is the sum of the terms of its entries, in any order. It is not 0.
constexpr std::uint64_t pattern_term(std::int32_t entry, std::int32_t difference) {
  return mix_bits(static_cast<std::uint64_t>(entry) << 32 ^ static_cast<std::uint32_t>(difference));
}
// The same where a pattern has values too; value_bits is the value as a number without a sign.
constexpr std::uint64_t repeated_term(std::int32_t entry, std::int32_t difference,
                                      std::uint64_t value_bits) {
  return mix_bits(pattern_term(entry, difference) + value_bits);
}
constexpr std::uint64_t pattern_hash(std::uint64_t sum_of_terms, std::int32_t length) {
  const std::uint64_t hash = sum_of_terms + static_cast<std::uint64_t>(length) * kSplitMixStep;
  return hash == 0 ? 1 : hash;
}

constexpr int rows_of_lane(std::int64_t rows, std::int64_t nnz, bool narrow) {
  return is_small(rows, nnz) ? 1 : narrow ? kMaxLaneRows : kWideLaneRows;
}
// The place of row `slot` of a slice among the numbers of a step.
constexpr int position(int slot, int lane_rows) {
  return slot % kLanes * lane_rows + slot / kLanes;
}
// The row of a slice whose numbers are at `position`.
constexpr int slot_at(int position, int lane_rows) {
  return position / lane_rows + position % lane_rows * kLanes;
}

// Rows with more nonzeros than this are kept apart.
std::int64_t longest_row(std::int64_t rows, std::int64_t nnz);
// True where the rows stay in the caller's order. natural_entries is the number of stored entries,
// with padding, in that order.
bool keeps_order(std::int64_t nnz, std::int64_t long_rows, std::int64_t natural_entries);

// Ascending keys sort the rows of each window from long to short. Rows longer than `longest` come
// last of all.
inline constexpr std::uint32_t kLongRow = 0xffffffffu;
constexpr std::uint32_t sort_key(std::int64_t row, std::int64_t length, std::int64_t longest) {
  if (length > longest) return kLongRow;
  return static_cast<std::uint32_t>(row / kWindow * (longest + 1) + (longest - length));
}

// Which arrays of the layout are in use.
struct Form {
  bool sorted = false;     // row_order is in use
  bool patterned = false;  // patterns and differences are in use
  bool repeated = false;   // the same, and values or fp32_values belong to the patterns
  bool narrow = false;     // base and offsets are in use; columns, where neither is true
  bool in_fp32 = false;    // fp32_values are in use, otherwise values
  int lane_rows = 1;

  int slice_size() const { return kLanes * lane_rows; }
};

// The layout in host memory. It owns its arrays. Value: double, float.
template <class Value>
struct Layout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  Form form;
  Array<std::int32_t> row_order;    // the caller's row of each row of the slices, where sorted
  Array<std::int32_t> slice_ptr;    // slices + 1: the first step of each slice
  Array<std::int32_t> base;         // 1 per step, where narrow
  Array<std::uint16_t> offsets;     // slice_size() per step, where narrow
  Array<std::int32_t> columns;      // slice_size() per step, where neither narrow nor patterned
  Array<PatternId> patterns;        // slice_size() per slice, where patterned
  Array<std::int32_t> differences;  // pattern_width per pattern, where patterned
  std::int32_t pattern_width = 0;
  Array<std::int32_t>
      pattern_rows;  // the first of the caller's rows with each pattern, where repeated;
                     // -1 of pattern 0
  Array<Value>
      values;  // slice_size() per step, or where repeated as `differences`; where not in_fp32
  Array<float> fp32_values;       // the same, where in_fp32
  Array<std::int32_t> long_rows;  // the caller's rows that are kept apart
  CsrMatrix<Value> apart;         // the rows of long_rows

  std::int64_t slices() const { return static_cast<std::int64_t>(slice_ptr.size()) - 1; }
  std::int64_t steps() const { return slice_ptr.back(); }
  std::int64_t slice_rows() const { return rows - static_cast<std::int64_t>(long_rows.size()); }
  std::int64_t stored_entries() const { return steps() * form.slice_size() + apart.nnz(); }
  std::int64_t caller_row(std::int64_t row) const { return form.sorted ? row_order[row] : row; }
};

}  // namespace trireme::sell
