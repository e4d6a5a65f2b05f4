// SPDX-License-Identifier: BSD-3-Clause
// Two passes: find the ghost columns, then move the entries to their blocks.
#include "distributed/split_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "distributed/column_set.hpp"

namespace trireme {
SplitRows split_rows(RowSlab&& slab, std::int64_t first_column, std::int64_t last_column) {
  SplitRows split;
  split.local = std::move(slab.local);
  CsrMatrix<double>& local = split.local;
  CsrMatrix<double>& ghost = split.ghost;
  local.cols = last_column - first_column;
  ghost.rows = local.rows;
  ghost.row_ptr.resize(local.rows + 1);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i <= local.rows; ++i) ghost.row_ptr[i] = 0;
  if (first_column == 0 && last_column >= slab.global_cols) return split;

  const auto owned = [&](std::int64_t column) {
    return column >= first_column && column < last_column;
  };
  std::int64_t ghosts = 0, lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
  for (const std::int32_t column : local.col_idx) {
    if (owned(column)) continue;
    ++ghosts;
    lowest = std::min<std::int64_t>(lowest, column);
    highest = std::max<std::int64_t>(highest, column);
  }
  if (ghosts == 0) {
    for (std::int32_t& column : local.col_idx) column -= static_cast<std::int32_t>(first_column);
    return split;
  }

  ColumnSet set(lowest, highest + 1);
  for (const std::int32_t column : local.col_idx)
    if (!owned(column)) set.insert(column);
  split.ghost_columns = set.list();
  ghost.cols = static_cast<std::int64_t>(split.ghost_columns.size());
  ghost.col_idx.resize(ghosts);
  ghost.values.resize(ghosts);
  split.is_ghost.assign(local.values.size(), false);

  std::int32_t kept = 0, moved = 0, k = 0;
  for (std::int64_t row = 0; row < local.rows; ++row) {
    for (const std::int32_t end = local.row_ptr[row + 1]; k < end; ++k) {
      const std::int32_t column = local.col_idx[k];
      if (owned(column)) {
        local.col_idx[kept] = column - static_cast<std::int32_t>(first_column);
        local.values[kept++] = local.values[k];
      } else {
        ghost.col_idx[moved] = set.index(column);
        ghost.values[moved++] = local.values[k];
        split.is_ghost[k] = true;
      }
    }
    local.row_ptr[row + 1] = kept;
    ghost.row_ptr[row + 1] = moved;
  }
  local.col_idx.resize(kept);
  local.values.resize(kept);
  if (kept < moved) {  // the unused tail is worth a copy; one array at a time bounds the peak
    local.col_idx.shrink_to_fit();
    local.values.shrink_to_fit();
  }
  return split;
}

void scatter_values(std::span<const double> values, SplitRows& split) {
  if (split.is_ghost.empty()) {
    const auto count = std::ssize(values);
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) split.local.values[k] = values[k];
    return;
  }
  std::size_t kept = 0, moved = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (split.is_ghost[k])
      split.ghost.values[moved++] = values[k];
    else
      split.local.values[kept++] = values[k];
  }
}

}  // namespace trireme
