// SPDX-License-Identifier: BSD-3-Clause
// The LSRB-CSR layout (local segmented reduction based CSR): the columns and values of the CSR stay
// where they are, and two short arrays say where rows begin in segments of equal length.
//
// Liu, Liu, Wang, Wang, "LSRB-CSR: A Low Overhead Storage Format for SpMV on the GPU Systems",
// ICPADS 2015. The nonzeros are cut into segments of the same length, whatever their rows. A
// segment is the share of one thread, and consecutive segments make a row block, the share of one
// thread block. Each thread sums its rows, the threads of a row block pass on the sums of the rows
// that are cut between them (the local segmented reduction), and a second pass adds the sums of the
// rows that are cut between row blocks. The 8 x 8 matrix of TEB (Wang et al. 2023, figures 1 and
// 2), in segments of 5 nonzeros and row blocks of 2 segments:
//
//   values      2 1 8 3 6 | 9 6 7 2 5 || 8 6 5 4 2 | 1
//   rows        0 0 0 1 2 | 2 3 3 4 5 || 5 6 7 7 7 | 7
//   row_starts  1 0 0 1 1 | 0 1 0 1 1 || 0 1 1 0 0 | 0   one bit per nonzero, one word per segment
//   first_row   0           2            5           7   of the segment's first nonzero
//   head rows                            5: the second row block begins within row 5
//
// How we read the paper, of which we know the description, not the arrays.
//  - The auxiliary arrays are the two above: 6 bytes per segment of 16 nonzeros. They replace
//    row_ptr, so that a product reads 12.4 bytes per nonzero (double) and no row_ptr.
//  - Each segment finds its rows by a binary search of its own ("synchronization free
//    preprocessing"). No entry is moved, which makes the build cheap and new values free.
//  - Empty rows begin at no nonzero. Where the matrix has any, first_row counts the other rows
//    only, row_of translates to rows of the matrix, and empty_rows lists the empty ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::lsrb_csr {

struct Cut {
  std::int32_t segment_nonzeros = 16;  // at most 16, the bits of a word of row_starts
  std::int32_t block_segments = 128;
};

template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t segments = 0;
  std::int64_t row_blocks = 0;
  Cut cut;

  // The comments give the number of elements.
  std::span<const Value> values;          // nnz: the CSR's own
  std::span<const std::int32_t> col_idx;  // nnz: the CSR's own
  Array<std::uint16_t> row_starts;        // segments: bit k is set where nonzero k begins a row
  Array<std::int32_t> first_row;          // segments: the row of the first nonzero
  Array<std::int32_t> row_of;             // rows with nonzeros; no element where no row is empty
  Array<std::int32_t> empty_rows;

  // The first nonzero of a segment, for segment <= segments.
  std::int64_t begin_of(std::int64_t segment) const {
    return std::min(segment * cut.segment_nonzeros, nnz);
  }
  // The first segment of a row block, for row_block <= row_blocks.
  std::int64_t first_segment(std::int64_t row_block) const {
    return std::min(row_block * cut.block_segments, segments);
  }
  // The row of the matrix for a row as first_row counts them.
  std::int32_t matrix_row(std::int32_t row) const { return row_of.empty() ? row : row_of[row]; }
  // True where the row block begins within a row.
  bool begins_within_row(std::int64_t row_block) const {
    return (row_starts[first_segment(row_block)] & 1U) == 0;
  }
};

}  // namespace trireme::lsrb_csr
