// SPDX-License-Identifier: BSD-3-Clause
// What one look at a matrix tells, before anything is solved with it: by this a method, a scaling
// and an advice are chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "distributed/distributed_matrix.hpp"

namespace trireme {

// Of rows or of columns: the least and the greatest of the largest magnitudes of those that have a
// nonzero. Both are 0 where none has.
struct SizeSpan {
  double least = 0, greatest = 0;
  // The greatest is about the least times 2^this.
  int powers_of_two() const;
};

struct MatrixLook {
  std::int64_t rows = 0, nnz = 0;  // of all ranks

  // The pattern, and the values: exactly. By hashes, which are wrong once in 2^60 matrices.
  bool symmetric_pattern = true, symmetric_values = true;
  bool nearly_symmetric = false;  // the values differ from those of A^T by rounding at most
  // The Frobenius norm of (A - A^T) / 2 over that of A, estimated to about a fifth; 0 where the
  // values are symmetric. Where some rows show that a matrix of 20,000 nonzeros or more is far from
  // symmetric, it is that of these rows.
  double skew = 0;
  // What CG and MINRES need.
  bool symmetric() const { return symmetric_values || nearly_symmetric; }

  // Diagonal entries; zero: or missing.
  std::int64_t positive_diagonal = 0, negative_diagonal = 0, zero_diagonal = 0;
  std::optional<std::int64_t> first_zero_diagonal{};  // the first such row of the file
  bool all_positive() const { return positive_diagonal == rows; }
  bool all_negative() const { return negative_diagonal == rows; }

  std::int64_t empty_rows = 0;     // without a nonzero
  std::int64_t dominant_rows = 0;  // |a_ii| >= the sum of the other magnitudes, but for rounding
  // Each row adds up to zero but for rounding, so that A maps constant vectors to zero.
  bool constant_nullspace = false;
  SizeSpan row_sizes{};
};

// Of the present values, which `matrix` remembers. The same on every rank. One pass over the
// entries, on the GPU where that has the matrix, and a second one on the host where A is not
// exactly symmetric. Collective.
const MatrixLook& look_at(const DistributedMatrix& matrix);

// What look_at() remembers of the present values; null: nobody looked.
const MatrixLook* known_look(const DistributedMatrix& matrix);

// What costs more, and what no choice of a method needs.
struct CloserLook {
  std::int64_t rows = 0;           // of all ranks
  std::int64_t repeated_rows = 0;  // equal to a row before; by hashes of 128 bits
  // The size of most dense blocks: rows that follow each other and have the same columns. 1: most
  // rows have no neighbour of the same columns.
  std::int64_t block_size = 1;
  std::int64_t rows_in_blocks = 0;  // of this size
  // Of the pattern of the nonzeros, by a matching. Empty: one rank cannot take the matrix
  // (scaling/on_rank_zero.hpp).
  std::optional<std::int64_t> structural_rank{};
  bool columns_as_rows = true;     // A is symmetric
  std::int64_t empty_columns = 0;  // without a nonzero
  SizeSpan column_sizes{};
};
// The same on every rank, but for blocks that ranks cut. Collective.
CloserLook look_closer(const DistributedMatrix& matrix);

// "symmetric, with a positive diagonal", and the same with all that is worth a word; one line
// without a full stop.
std::string in_short(const MatrixLook& look);
std::string words_of(const MatrixLook& look);
// "rows in blocks of 3"; empty where nothing is worth a word.
std::string words_of(const CloserLook& look);

}  // namespace trireme
