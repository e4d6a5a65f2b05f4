// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a matrix: row lengths, bandwidth, symmetry, and the share of each rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// Statistics of the number of nonzeros per row. All are 0 for a matrix without rows.
struct RowLengthStatistics {
  std::int64_t min = 0, max = 0;
  std::int64_t p05 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, p99 = 0;  // nearest rank
  double mean = 0;
  double standard_deviation = 0;
  std::int64_t empty_rows = 0;
};

struct SymmetryStatistics {
  std::int64_t unmatched_entries = 0;  // entries a_ij that are stored while a_ji is not
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
  std::optional<SymmetryStatistics> symmetry;  // square matrices only
};

// The share of one rank where split_by_nonzeros() cuts the rows. The columns of a square matrix are
// cut like its rows; those of a rectangular matrix are cut into equal ranges.
struct RankShare {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t ghosts = 0;  // distinct columns that other ranks own
};

RowLengthStatistics row_length_statistics(std::span<const std::int32_t> row_ptr);
MatrixStatistics matrix_statistics(const CsrMatrix<double>& matrix);
std::vector<RankShare> rank_shares(const CsrMatrix<double>& matrix, int ranks);

}  // namespace trireme
