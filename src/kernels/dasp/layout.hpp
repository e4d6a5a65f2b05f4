// SPDX-License-Identifier: BSD-3-Clause
// The DASP layout: rows classed by length, stored as small dense blocks for matrix units.
//
// Lu and Liu, "DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General Sparse
// Matrix-Vector Multiplication", SC 2023, section 3.2. M and K are the matrix unit's block (8 x 4
// for FP64 m8n8k4); MAX_LEN is 256.
//
//   row length   class    stored as
//   > 256        long     groups of 2*M*K = 64 entries in row order, the last padded with zeros
//   5 .. 256     medium   sorted by length, longest first (ties in row order); M rows a row block
//   1 .. 4       short    pieced to width 4: 1&3, then 4 (with the 3s left over), 2&2, 1s left over
//   0            empty    only its row number
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
// A space with exactly 0.75*M*K nonzeros is irregular, to the letter of the paper. So rows of one
// length never carry padding (the last 3 of 7, 11, .. entries stay compact: 88 bytes a 7-entry row,
// not 96), and since there are at most 252 lengths, at most 251 row blocks carry any.
//
// Padded zeros have column 0. Executors skip them where they can occur, so an infinite x[0] does
// not leak into rows that do not have it.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::dasp {

inline constexpr std::int32_t kMaxLen = 256;  // the paper's MAX_LEN: the longest medium row
inline constexpr std::int32_t kPiece = 4;     // the width of a pieced short row

// How many rows and pieces of each kind there are, and where each kind's rows begin in row_order:
//   long | medium | 1&3 (both rows of a piece adjacent) | 4s | 3s | 2s (likewise) | 1s | empty
struct Counts {
  std::int64_t long_rows = 0;
  std::int64_t medium_rows = 0;
  std::int64_t pieces_13 = 0;  // two rows each
  std::int64_t fours = 0;
  std::int64_t threes = 0;  // left over, padded to 4
  std::int64_t twos = 0;    // rows; an odd last one has its piece to itself
  std::int64_t ones = 0;    // left over
  std::int64_t empty = 0;

  constexpr std::int64_t first_medium() const { return long_rows; }
  constexpr std::int64_t first_13() const { return first_medium() + medium_rows; }
  constexpr std::int64_t first_4() const { return first_13() + 2 * pieces_13; }
  constexpr std::int64_t first_22() const { return first_4() + pieces_4(); }
  constexpr std::int64_t first_1() const { return first_22() + twos; }
  constexpr std::int64_t first_empty() const { return first_1() + ones; }

  constexpr std::int64_t pieces_4() const { return fours + threes; }
  constexpr std::int64_t pieces_22() const { return (twos + 1) / 2; }
  // In pieces from the start of short_val, in the paper's order: 1&3, 4, 2&2, then single entries.
  constexpr std::int64_t piece_4() const { return pieces_13; }
  constexpr std::int64_t piece_22() const { return pieces_13 + pieces_4(); }
  constexpr std::int64_t pieces() const { return piece_22() + pieces_22(); }
  constexpr std::int64_t short_entries() const { return kPiece * pieces() + ones; }

  bool operator==(const Counts&) const = default;
};

template <class Value, int M = 8, int K = 4>
struct Layout {
  static constexpr int kRows = M;           // of a block, and of a row block
  static constexpr int kBlock = M * K;      // entries of a block
  static constexpr int kGroup = 2 * M * K;  // entries of a group of a long row

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  Counts counts;
  Array<std::int32_t> row_order;  // rows: the caller's row at each position, see Counts

  Array<Value> long_val;          // kGroup * groups
  Array<std::int32_t> long_cid;   // likewise
  Array<std::int32_t> group_ptr;  // long_rows + 1, in groups

  Array<Value> reg_val;              // rowblock_ptr.back()
  Array<std::int32_t> reg_cid;       // likewise
  Array<std::int32_t> rowblock_ptr;  // row blocks + 1, in entries
  Array<Value> irreg_val;            // irreg_ptr.back()
  Array<std::int32_t> irreg_cid;     // likewise
  Array<std::int32_t> irreg_ptr;     // medium_rows + 1, in entries

  Array<Value> short_val;         // counts.short_entries()
  Array<std::int32_t> short_cid;  // likewise

  std::int64_t row_blocks() const { return (counts.medium_rows + M - 1) / M; }
  std::int64_t stored_entries() const {
    return static_cast<std::int64_t>(long_val.size() + reg_val.size() + irreg_val.size() +
                                     short_val.size());
  }
};

// How many M x K blocks the regular part of a row block has, for row lengths longest first.
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
