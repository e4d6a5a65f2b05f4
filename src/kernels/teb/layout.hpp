// SPDX-License-Identifier: BSD-3-Clause
// The TEB layout: rows are exchanged and merged into blocks of about the same number of nonzeros.
//
// Wang, Zhang, He, Xu, Cui, "TEB: Efficient SpMV Storage Format for Matrix Decomposition and
// Reconstruction on GPU", 2023, section 3.1. Rows are sorted by length, longest first (ties in row
// order). A block takes the longest remaining row and then the shortest remaining rows, from the
// end, while their sum stays within the threshold. The paper's 8 x 8 example, threshold 4:
//
//   row lengths      R0:3 R1:1 R2:2 R3:2 R4:1 R5:2 R6:1 R7:4
//   sorted           R7:4 | R0:3 | R2:2 R3:2 R5:2 | R1:1 R4:1 R6:1
//   blocks           {R7}      {R0 R6}   {R2 R4 R1}  {R3 R5}
//   row_order         7         0  6      2  4  1     3  5
//   values           5 4 2 1 | 2 1 8 6 | 6 9 2 3   | 6 7 5 8
//   col_idx          0 5 6 7 | 2 6 7 4 | 3 7 6 0   | 0 1 4 5
//   blo_idx          0         1         3           6         8
//   rownnz_sum       0         4      7  8     10 11 12    14  16
//
// How we read the paper. Algorithm 2 says "while SUM + rowNNZ[end] < Threshold", but figure 13
// merges 3 + 1 = Threshold, which only "<=" allows. We use "<=". RowNNZ_Sum is stored as in figure
// 15: the running sum over the reordered rows.
//
// What we add, so that a block fits the shared memory of a thread block and y stays in its cache:
//  - No block holds more than the threshold. The paper leaves all remaining rows to the last of its
//    bLN blocks; we make further blocks.
//  - Rows longer than the threshold come first, one per block, longest first.
//  - The other rows are sorted and merged within panels of consecutive rows (plan.hpp). A matrix of
//    one panel has the layout of the paper.
//  - Empty rows come last, in row order, kEmptyRowsPerBlock per block.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "kernels/teb/tuning.hpp"

namespace trireme::teb {

template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int32_t threshold = 0;
  std::int64_t long_rows = 0;  // blocks [0, long_rows) have one row, longer than the threshold

  // The comments give the number of elements.
  Array<Value> values;             // nnz
  Array<std::int32_t> col_idx;     // nnz
  Array<std::int32_t> blo_idx;     // blocks + 1: the first position of each block
  Array<std::int32_t> rownnz_sum;  // rows + 1: the nonzeros before each position
  Array<std::int32_t> row_order;   // rows: the caller's row at each position

  std::int64_t blocks() const { return static_cast<std::int64_t>(blo_idx.size()) - 1; }
};

}  // namespace trireme::teb
