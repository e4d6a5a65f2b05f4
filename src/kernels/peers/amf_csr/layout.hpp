// SPDX-License-Identifier: BSD-3-Clause
// The AMF-CSR layout (adaptive multi-row folding): consecutive rows are folded into row blocks,
// whose nonzeros are stored by column, and consecutive row blocks make sub-blocks of about equal
// numbers of nonzeros.
//
// Gao et al., "AMF-CSR: Adaptive Multi-Row Folding of CSR for SpMV on GPU", ICPADS 2021; and Wang
// et al., "TEB", 2023, section 2.3. The 8 x 8 example of TEB, T_s = 4 and T_l = 7:
//
//   row lengths   R0:3    R1:1 R2:2   R3:2 R4:1   R5:2 R6:1   R7:4
//   row blocks    {R0}    {R1 R2}     {R3 R4}     {R5 R6}     {R7}
//   sub-blocks    {              }    {              }        {   }      6, 6 and 4: S^2 = 8/9
//   val           2 1 8 | 3 6 9     | 6 7 2     | 5 6 8     | 5 4 2 1
//   column        2 6 7 | 0 3 7     | 0 1 6     | 4 4 5     | 0 5 6 7    } both in
//   row in block  0 0 0 | 0 1 1     | 0 0 1     | 0 1 0     | 0 0 0 0    } col_index
//   first_row     0       1           3           5           7         8
//   row_ptr       0       3           6           9           12        16  (row block pointers)
//                 0                   2                       4         5   (first row blocks)
//
// Consecutive rows share a row block while they have fewer than T_s nonzeros together, and
// consecutive row blocks share a sub-block while they have fewer than T_l together. A longer row is
// a row block of its own. "Fewer", as TEB's text says: "at most" would give four sub-blocks of 4
// nonzeros in the example.
//
// How we read the papers.
//  - TEB names three arrays and does not say how a nonzero of a row block finds its row. We keep
//    the place of the row in its row block in the low bits of col_index, so that folding needs no
//    memory: 12 bytes per nonzero (double), as in CSR. A row block therefore has at most 2^row_bits
//    rows: 16, or fewer where the columns need more than 28 bits.
//  - first_row is an array of ours, because row blocks have different numbers of rows.
//  - The rows of a row block are merged by column in the order in which each of them is stored. A
//    row keeps its order, also where its columns are not sorted.
//  - TEB states S^2 = 1.29 for the example. Its equation 5 gives 8/9 = 0.889. The value 1.29 is
//    (1.3^2 + 1.3^2 + 0.7^2) / 3, but 6, 6 and 4 deviate from their mean 5.3 by 0.7, 0.7 and 1.3:
//    the deviations are exchanged.
//
// thresholds.hpp has the rule for T_s and T_l.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::amf_csr {

inline constexpr int kMaxRowBits = 4;
// A sub-block of row blocks with few nonzeros ends here.
inline constexpr std::int64_t kMaxRowBlocksPerSubBlock = 64;

template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t row_blocks = 0;
  std::int64_t sub_blocks = 0;
  int row_bits = kMaxRowBits;

  // The comments give the number of elements.
  Array<Value> val;                // nnz
  Array<std::uint32_t> col_index;  // nnz: column << row_bits | row within the row block
  Array<std::int32_t> row_ptr;     // row_blocks + 1 pointers, then sub_blocks + 1 first row blocks
  Array<std::int32_t> first_row;   // row_blocks + 1

  std::span<const std::int32_t> row_block_ptr() const {
    return std::span<const std::int32_t>(row_ptr).first(row_blocks + 1);
  }
  std::span<const std::int32_t> sub_block_ptr() const {
    return std::span<const std::int32_t>(row_ptr).subspan(row_blocks + 1);
  }
  std::uint32_t column_of(std::uint32_t index) const { return index >> row_bits; }
  std::uint32_t row_of(std::uint32_t index) const { return index & ((1U << row_bits) - 1); }
};

}  // namespace trireme::amf_csr
