// SPDX-License-Identifier: BSD-3-Clause
// The PBC layout (partition-block-CSR): rows are dealt to blocks, so that the standard deviation of
// the nonzeros per block is small.
//
// Cui et al., "An effective SPMV based on block strategy and hybrid compression on GPU", J.
// Supercomputing 78, 2022; and Wang et al., "TEB", 2023, section 2.2. The 8 x 8 example of TEB in
// three blocks:
//
//   row lengths   R0:3 R1:1 R2:2 R3:2 R4:1 R5:2 R6:1 R7:4
//   blocks        {R0 R2}     {R1 R4 R7}    {R3 R5 R6}     5, 6 and 5 nonzeros: S^2 = 2/9
//   dev_blockpos  0 0 0 2 2 | 1 4 7 7 7 7 | 3 3 5 5 6
//   dev_offset    2 6 7 3 7 | 0 6 0 5 6 7 | 0 1 4 5 4
//   val_data      2 1 8 6 9 | 3 2 5 4 2 1 | 6 7 5 8 6
//   dev_p         0           5             11           16
//   dev_w         3           4             2
//
// A block is COO inside, with a row for each nonzero, and the blocks lie one after another, as rows
// do in CSR. Bytes per nonzero: 16 (double).
//
// How we read the papers.
//  - TEB's text gives the nonzeros per block of the example. Which rows share a block follows from
//    our rule (partition.hpp), and so do the arrays.
//  - TEB names the five arrays. Its description of Dev_w ("the width of the maximum number of
//    nonzeros") also fits blocks that are padded to that width. Such blocks have no bound on their
//    padding: one with rows of 600 and 1 nonzeros would be nearly all zeros. We store no padding,
//    as the abstract of PBC says ("each block stored in the form of CSR and COO"), and dev_w is the
//    length of the longest row of the block, which tells an executor how to share the rows.
//  - TEB states S^2 = 0.23 for the example. Its equation 5, the variance with the divisor "number
//    of blocks", gives 2/9 = 0.222. With the mean 16/3 rounded to 5.3 the equation gives 0.2233,
//    which is 0.23 if it is rounded up. The divisor "number of blocks - 1" gives 0.333, and the
//    standard deviation is 0.471. We use equation 5 without rounding.
//  - "All partitions" cannot be tried: the example itself has S^2 = 0 with two blocks and with four
//    blocks. plan.hpp says which partitions we try, and what that costs.
//
// What we add, so that a block fits the shared memory of a thread block and x stays in caches:
//  - Rows are dealt within panels of consecutive rows. A matrix of one panel has the layout above.
//  - Rows of more than plan.max_row nonzeros come first, in row order, one per block.
//  - Empty rows have no nonzero that would name them, and are listed in empty_rows.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::pbc {

template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t long_rows = 0;  // blocks [0, long_rows) have one row, longer than plan.max_row

  // The comments give the number of elements. Within a block, rows ascend, and each row has its
  // nonzeros in the order of the CSR.
  Array<Value> val_data;             // nnz
  Array<std::int32_t> dev_offset;    // nnz: the column of each nonzero
  Array<std::int32_t> dev_blockpos;  // nnz: the row of each nonzero
  Array<std::int32_t> dev_w;         // blocks: the nonzeros of the longest row
  Array<std::int32_t> dev_p;         // blocks + 1: the first nonzero of each block
  Array<std::int32_t> empty_rows;

  std::int64_t blocks() const { return static_cast<std::int64_t>(dev_w.size()); }
};

}  // namespace trireme::pbc
