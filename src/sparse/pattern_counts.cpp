// SPDX-License-Identifier: BSD-3-Clause
// One pass over the columns. Each thread counts for itself.
#include "sparse/pattern_counts.hpp"

#include <algorithm>
#include <bit>

namespace trireme {
namespace {

constexpr std::size_t kLengths = 40;  // rows have fewer than 2^39 nonzeros

// Cells are as wide as each other, so that a boundary may fall into the middle of a row or column,
// which belongs to the cell of its middle.
std::int64_t cell_of(std::int64_t index, double cells_per_index, std::int64_t cells) {
  const double place = (static_cast<double>(index) + 0.5) * cells_per_index;
  return std::min(static_cast<std::int64_t>(place), cells - 1);
}

double ratio(std::int64_t cells, std::int64_t size) {
  return size > 0 ? static_cast<double>(cells) / static_cast<double>(size) : 0;
}

void add(const std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

PatternCounts::PatternCounts(std::int64_t global_rows, std::int64_t global_cols)
    : rows(global_rows),
      cols(global_cols),
      cells(std::min({kMaxCells, rows, cols})),
      density(static_cast<std::size_t>(cells * cells)),
      row_lengths(kLengths) {}

void PatternCounts::add_nonzeros(const CsrView<double>& block, std::int64_t first_row,
                                 std::int64_t first_column, std::span<const std::int64_t> columns) {
  if (cells == 0) return;
  const double per_row = ratio(cells, rows), per_column = ratio(cells, cols);
#pragma omp parallel
  {
    std::vector<std::int64_t> mine(density.size());
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < block.rows; ++row) {
      std::int64_t* line = mine.data() + cells * cell_of(first_row + row, per_row, cells);
      for (std::int32_t k = block.row_ptr[row]; k < block.row_ptr[row + 1]; ++k) {
        const std::int32_t stored = block.col_idx[k];
        const std::int64_t column = columns.empty() ? first_column + stored : columns[stored];
        ++line[cell_of(column, per_column, cells)];
      }
    }
#pragma omp critical(trireme_pattern_counts)
    add(mine, density);
  }
}

void PatternCounts::add_row_lengths(const CsrView<double>& left, const CsrView<double>& right) {
#pragma omp parallel
  {
    std::vector<std::int64_t> mine(kLengths);
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < left.rows; ++row) {
      std::int64_t length = left.row_ptr[row + 1] - left.row_ptr[row];
      if (right.rows > 0) length += right.row_ptr[row + 1] - right.row_ptr[row];
      ++mine[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)))];
    }
#pragma omp critical(trireme_pattern_counts)
    add(mine, row_lengths);
  }
}

}  // namespace trireme
