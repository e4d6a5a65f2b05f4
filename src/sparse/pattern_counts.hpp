// SPDX-License-Identifier: BSD-3-Clause
// Where the nonzeros of a matrix are and how long its rows are, in a few thousand numbers for any
// size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// Counts of one or several blocks of rows. The counts of all blocks of a matrix add up to those of
// the matrix.
struct PatternCounts {
  static constexpr std::int64_t kMaxCells = 64;

  PatternCounts(std::int64_t global_rows, std::int64_t global_cols);

  // Adds the nonzeros of a block whose row i is row first_row + i of the matrix. Its column j is
  // column columns[j] of the matrix, or first_column + j where `columns` is empty. Runs in parallel
  // in O(nnz).
  void add_nonzeros(const CsrView<double>& block, std::int64_t first_row, std::int64_t first_column,
                    std::span<const std::int64_t> columns = {});

  // Adds rows[k] to the rows of the lengths 2^(k-1) to 2^k - 1 for the rows whose nonzeros are
  // those of `left` and `right` together. Both have the same number of rows, or `right` has none.
  void add_row_lengths(const CsrView<double>& left, const CsrView<double>& right);

  std::int64_t rows, cols;
  std::int64_t cells;                     // per side; at most kMaxCells, rows and cols
  std::vector<std::int64_t> density;      // cells x cells, row by row
  std::vector<std::int64_t> row_lengths;  // [k]: rows of 2^(k-1) to 2^k - 1 nonzeros, [0]: empty
};

}  // namespace trireme
