// SPDX-License-Identifier: BSD-3-Clause
// The DASP layout: the rows are classed by length and stored as small dense blocks for matrix
// units.
//
// Lu and Liu, "DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General Sparse
// Matrix-Vector Multiplication", SC 2023, section 3.2. M and K are the matrix unit's block (8 x 4
// for FP64 m8n8k4); MAX_LEN is 256.
//
//   row length   class    stored as
//   > 256        long     groups of 2*M*K = 64 entries in row order, the last padded with zeros
//   5 .. 256     medium   sorted by length, longest first (ties in row order); M rows per row block
//   1 .. 4       short    pieces of width 4: 1&3, then 4 (with the remaining 3s), 2&2, and then the
//                         remaining 1s as single entries
//   0            empty    only the row number
//
// A row block of M = 8 rows, here of lengths 9 9 9 9 8 7 6 5, K = 4:
//
//     k: 0 1 2 3   4 5 6 7   8
//        a a a a | a a a a | i    An M x K space is a block while it holds MORE than 0.75*M*K
//        a a a a | a a a a | i    nonzeros: the first holds 32, the second 26 of 32 (0: padding),
//        a a a a | a a a a | i    both over 24. The third holds 4: its entries are irregular (i).
//        a a a a | a a a a | i
//        a a a a | a a a a |      Blocks are row-major and follow each other:
//        a a a a | a a a 0 |        reg_val[rowblock_ptr[b] + (k/K)*M*K + row*K + k%K]
//        a a a a | a a 0 0 |      Irregular entries follow each other, row after row:
//        a a a a | a 0 0 0 |        irreg_val[irreg_ptr[row] ..]
//
// A space with exactly 0.75*M*K nonzeros is irregular, as the paper says. A row block whose rows
// have the same length therefore has no padding: the last 3 of 7, 11, .. entries stay compact (88
// bytes for a row of 7 entries, not 96). There are at most 252 lengths, so at most 251 row blocks
// have padding.
//
// Padded zeros have column 0. Executors skip them where they can occur, so that an infinite x[0]
// does not reach a row without column 0.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::dasp {

inline constexpr std::int32_t kMaxLen = 256;  // the paper's MAX_LEN: the longest medium row
inline constexpr std::int32_t kPiece = 4;     // the width of a pieced short row

// The numbers of rows and pieces of each kind, and where the rows of each kind begin in row_order:
//   long | medium | 1&3 (the two rows of a piece adjacent) | 4s | 3s | 2s (adjacent) | 1s | empty
struct Counts {
  std::int64_t long_rows = 0;
  std::int64_t medium_rows = 0;
  std::int64_t pieces_13 = 0;  // pieces of two rows
  std::int64_t fours = 0;
  std::int64_t threes = 0;  // rows of 3 that are in no 1&3 piece, padded to 4
  std::int64_t twos = 0;    // rows of 2; where their number is odd, the last has a piece of its own
  std::int64_t ones = 0;    // rows of 1 that are in no 1&3 piece
  std::int64_t empty = 0;

  constexpr std::int64_t first_medium() const { return long_rows; }
  constexpr std::int64_t first_13() const { return first_medium() + medium_rows; }
  constexpr std::int64_t first_4() const { return first_13() + 2 * pieces_13; }
  constexpr std::int64_t first_22() const { return first_4() + pieces_4(); }
  constexpr std::int64_t first_1() const { return first_22() + twos; }
  constexpr std::int64_t first_empty() const { return first_1() + ones; }

  constexpr std::int64_t pieces_4() const { return fours + threes; }
  constexpr std::int64_t pieces_22() const { return (twos + 1) / 2; }
  // Offsets in pieces from the start of short_val. The order is the paper's: 1&3, 4, 2&2, and then
  // single entries.
  constexpr std::int64_t piece_4() const { return pieces_13; }
  constexpr std::int64_t piece_22() const { return pieces_13 + pieces_4(); }
  constexpr std::int64_t pieces() const { return piece_22() + pieces_22(); }
  constexpr std::int64_t short_entries() const { return kPiece * pieces() + ones; }

  bool operator==(const Counts&) const = default;
};

template <class Value, int M = 8, int K = 4>
struct Layout {
  static constexpr int kRows = M;           // rows per block, and rows per row block
  static constexpr int kBlock = M * K;      // entries per block
  static constexpr int kGroup = 2 * M * K;  // entries per group of a long row

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  Counts counts;
  Array<std::int32_t> row_order;  // rows numbers: the caller's row at each position (see Counts)

  // The comments give the number of elements. val holds values, cid holds column ids.
  Array<Value> long_val;          // kGroup * groups
  Array<std::int32_t> long_cid;   // kGroup * groups
  Array<std::int32_t> group_ptr;  // long_rows + 1 offsets in groups

  Array<Value> reg_val;              // rowblock_ptr.back()
  Array<std::int32_t> reg_cid;       // rowblock_ptr.back()
  Array<std::int32_t> rowblock_ptr;  // row blocks + 1 offsets in entries
  Array<Value> irreg_val;            // irreg_ptr.back()
  Array<std::int32_t> irreg_cid;     // irreg_ptr.back()
  Array<std::int32_t> irreg_ptr;     // medium_rows + 1 offsets in entries

  Array<Value> short_val;         // counts.short_entries()
  Array<std::int32_t> short_cid;  // counts.short_entries()

  std::int64_t row_blocks() const { return (counts.medium_rows + M - 1) / M; }
  std::int64_t stored_entries() const {
    return static_cast<std::int64_t>(long_val.size() + reg_val.size() + irreg_val.size() +
                                     short_val.size());
  }
};

// Returns the number of M x K blocks in the regular part of a row block. length_of(row), 0 <= row <
// M, gives the row lengths, longest first.
template <int M, int K, class LengthOf>
constexpr std::int32_t regular_blocks(LengthOf length_of) {
  for (std::int32_t block = 0;; ++block) {
    std::int32_t nonzeros = 0;
    for (int row = 0; row < M; ++row) {
      const std::int32_t left = length_of(row) - K * block;
      nonzeros += left < 0 ? 0 : left > K ? K : left;
    }
    if (4 * nonzeros <= 3 * M * K) return block;
  }
}

}  // namespace trireme::dasp
