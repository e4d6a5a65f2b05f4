// SPDX-License-Identifier: BSD-3-Clause
// Two passes: find the ghost columns, then move the entries to their blocks.
#include "distributed/split_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "distributed/column_set.hpp"

namespace trireme {

std::vector<SplitRows::Rows> SplitRows::rows_by_blocks() const {
  std::vector<Rows> result;
  for (const RowBlock<double>& block : local.blocks())
    result.push_back({block.first_row, block.csr, {}});
  if (ghost.nnz() == 0) return result;
  const std::vector<RowBlock<double>> ghosts = ghost.blocks();
  for (std::size_t block = 0; block < result.size(); ++block)
    result[block].ghost = ghosts[block].csr;
  return result;
}

namespace {

// Splits split.local, whose columns are `columns`: its own col_idx, or an array of 64 bits that it
// is filled from.
template <class Column>
void split_columns(std::span<const Column> columns, std::int64_t first_column,
                   std::int64_t last_column, SplitRows& split) {
  CsrMatrix<double>& local = split.local;
  CsrMatrix<double>& ghost = split.ghost;
  const auto owned = [&](std::int64_t column) {
    return column >= first_column && column < last_column;
  };
  const auto own_number = [&](std::int64_t column) {
    return static_cast<std::int32_t>(column - first_column);
  };
  std::int64_t ghosts = 0, lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
  for (const Column column : columns) {
    if (owned(column)) continue;
    ++ghosts;
    lowest = std::min<std::int64_t>(lowest, column);
    highest = std::max<std::int64_t>(highest, column);
  }
  if (ghosts == 0) {
    for (std::size_t k = 0; k < columns.size(); ++k) local.col_idx[k] = own_number(columns[k]);
    return;
  }

  ColumnSet set(lowest, highest + 1);
  for (const Column column : columns)
    if (!owned(column)) set.insert(column);
  split.ghost_columns = set.list();
  ghost.cols = static_cast<std::int64_t>(split.ghost_columns.size());
  ghost.col_idx.resize(ghosts);
  ghost.values.resize(ghosts);
  split.is_ghost.assign(local.values.size(), false);

  std::int64_t kept = 0, moved = 0;  // of all blocks so far
  for (const RowBlock<double>& block : local.blocks()) {
    const std::int64_t first_kept = kept, first_moved = moved;
    const std::int64_t offset_at = block.csr.row_ptr.data() - local.row_ptr.data();
    std::int64_t k = block.first_entry;
    for (std::int64_t row = 0; row < block.csr.rows; ++row) {
      const std::int64_t end = block.first_entry + block.csr.row_ptr[row + 1];
      for (; k < end; ++k) {
        const Column column = columns[k];
        if (owned(column)) {
          local.col_idx[kept] = own_number(column);
          local.values[kept++] = local.values[k];
        } else {
          ghost.col_idx[moved] = set.index(column);
          ghost.values[moved++] = local.values[k];
          split.is_ghost[k] = true;
        }
      }
      local.row_ptr[offset_at + row + 1] = static_cast<std::int32_t>(kept - first_kept);
      ghost.row_ptr[offset_at + row + 1] = static_cast<std::int32_t>(moved - first_moved);
    }
  }
  local.col_idx.resize(kept);
  local.values.resize(kept);
  if (kept < moved) {  // the unused tail is worth a copy; one array at a time bounds the peak
    local.col_idx.shrink_to_fit();
    local.values.shrink_to_fit();
  }
}

}  // namespace

SplitRows split_rows(RowSlab&& slab, std::int64_t first_column, std::int64_t last_column) {
  SplitRows split;
  split.local = std::move(slab.local);
  CsrMatrix<double>& local = split.local;
  CsrMatrix<double>& ghost = split.ghost;
  local.cols = last_column - first_column;
  ghost.rows = local.rows;
  ghost.cuts = local.cuts;
  const auto offsets = static_cast<std::int64_t>(local.row_ptr.size());
  ghost.row_ptr.resize(offsets);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < offsets; ++i) ghost.row_ptr[i] = 0;
  if (first_column == 0 && last_column >= slab.global_cols) return split;
  if (slab.is_wide()) {
    const Array<std::int64_t> columns = std::move(slab.wide_columns);
    local.col_idx.resize(columns.size());
    split_columns<std::int64_t>(columns, first_column, last_column, split);
  } else {
    split_columns<std::int32_t>(local.col_idx, first_column, last_column, split);
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
