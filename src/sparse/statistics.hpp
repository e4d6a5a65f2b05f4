// SPDX-License-Identifier: BSD-3-Clause
// What a matrix looks like: row lengths, symmetry, diagonal, and what each of P ranks would hold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// Of the number of nonzeros a row; all zero for a matrix without rows.
struct RowLengthStatistics {
  std::int64_t min = 0, max = 0;
  std::int64_t p05 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, p99 = 0;  // nearest rank
  double mean = 0;
  double standard_deviation = 0;
  std::int64_t empty_rows = 0;
};

struct DiagonalStatistics {
  std::int64_t zeros = 0;                      // diagonal entries that are absent or 0
  std::optional<std::int64_t> first_zero_row;  // the first of them
  std::int64_t dominant_rows = 0;              // |a_ii| >= sum of the other |a_ij| of the row
  std::int64_t negative = 0;                   // a_ii < 0: such a matrix is not SPD
};

struct SymmetryStatistics {
  std::int64_t unmatched_entries = 0;  // a_ij stored, a_ji not
  double largest_difference = 0;       // max |a_ij - a_ji|; an absent entry counts as 0
  bool pattern() const { return unmatched_entries == 0; }
  bool values() const { return largest_difference == 0; }
};

struct MatrixStatistics {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  RowLengthStatistics row_lengths;
  std::int64_t lower_bandwidth = 0;            // max of i - j over the entries, at least 0
  std::int64_t upper_bandwidth = 0;            // max of j - i
  bool sorted_columns = true;                  // strictly ascending within every row
  double largest_magnitude = 0;                // max |a_ij|
  std::optional<DiagonalStatistics> diagonal;  // square matrices only
  std::optional<SymmetryStatistics> symmetry;  // square matrices only
};

// What one rank would hold of a square matrix cut by split_by_nonzeros; rectangular ones have the
// ghosts counted against an even split of the columns.
struct RankShare {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t ghosts = 0;  // distinct columns that other ranks own
};

RowLengthStatistics row_length_statistics(std::span<const std::int32_t> row_ptr);
MatrixStatistics matrix_statistics(const CsrView<double>& matrix);
std::vector<RankShare> rank_shares(const CsrView<double>& matrix, int ranks);

}  // namespace trireme
