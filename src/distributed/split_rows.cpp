// SPDX-License-Identifier: BSD-3-Clause
// Finds the ghost entries, copies them to their block, and removes them from the other one.
#include "distributed/split_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "distributed/column_set.hpp"
#include "distributed/keep_others.hpp"
#include "sparse/partition.hpp"

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

// Sets the offsets of a block of local rows and of the same ghost rows. Those of `local` still
// count all entries; of these, the entries at the positions `ghosts` leave the block.
void split_offsets(const RowBlock<double>& block, std::span<const std::int64_t> ghosts,
                   std::int32_t* local, std::int32_t* ghost) {
  const int parts = omp_get_max_threads();
  const std::int64_t ghosts_before = positions_before(ghosts, block.first_entry);
  std::vector<std::int64_t> first_entries(parts);  // read before the offsets change
  for (int part = 0; part < parts; ++part)
    first_entries[part] = block.first_entry + local[even_share(block.csr.rows, parts, part)];
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    std::int64_t next = positions_before(ghosts, first_entries[part]);
    const std::int64_t last = even_share(block.csr.rows, parts, part + 1);
    for (std::int64_t row = even_share(block.csr.rows, parts, part); row < last; ++row) {
      const std::int64_t end = block.first_entry + local[row + 1];
      while (next < std::ssize(ghosts) && ghosts[next] < end) ++next;
      ghost[row + 1] = static_cast<std::int32_t>(next - ghosts_before);
      local[row + 1] -= ghost[row + 1];
    }
  }
}

// Splits split.local, whose columns are `columns`: its own col_idx, or an array of 64 bits that it
// is filled from.
template <class Column>
void split_columns(std::span<const Column> columns, std::int64_t first_column,
                   std::int64_t last_column, SplitRows& split) {
  CsrMatrix<double>& local = split.local;
  CsrMatrix<double>& ghost = split.ghost;
  const auto own_number = [&](std::int64_t column) {
    return static_cast<std::int32_t>(column - first_column);
  };
  const Array<std::int64_t> at = positions_outside(columns, first_column, last_column);
  const std::int64_t ghosts = std::ssize(at);
  if (ghosts > 0) {
    ColumnSet set = columns_at(columns, std::span(at));
    split.is_ghost.assign(local.values.size(), false);
    for (const std::int64_t k : at) split.is_ghost[k] = true;
    split.ghost_columns = set.list();
    ghost.cols = static_cast<std::int64_t>(split.ghost_columns.size());
    ghost.col_idx.resize(ghosts);
    ghost.values.resize(ghosts);
#pragma omp parallel for schedule(static)
    for (std::int64_t g = 0; g < ghosts; ++g) {
      ghost.col_idx[g] = set.index(columns[at[g]]);
      ghost.values[g] = local.values[at[g]];
    }
    std::int64_t offset_at = 0;
    for (const RowBlock<double>& block : local.blocks()) {
      split_offsets(block, at, local.row_ptr.data() + offset_at, ghost.row_ptr.data() + offset_at);
      offset_at += block.csr.rows + 1;
    }
  }
  keep_others(columns, std::span(at), local.col_idx.data(), own_number);
  if (ghosts == 0) return;
  keep_others(std::span<const double>(local.values), std::span(at), local.values.data());
  const std::int64_t kept = std::ssize(local.values) - ghosts;
  local.col_idx.resize(kept);
  local.values.resize(kept);
  if (kept < ghosts) {  // the unused tail is worth a copy; one array at a time bounds the peak
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
  const int parts = omp_get_max_threads();
  std::vector<std::int64_t> ghosts_before(parts + 1);
  const auto begin_of = [&](int part) { return even_share(std::ssize(values), parts, part); };
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < parts; ++part)
    ghosts_before[part + 1] = std::count(split.is_ghost.begin() + begin_of(part),
                                         split.is_ghost.begin() + begin_of(part + 1), true);
  std::partial_sum(ghosts_before.begin(), ghosts_before.end(), ghosts_before.begin());
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    std::int64_t moved = ghosts_before[part];
    for (std::int64_t k = begin_of(part); k < begin_of(part + 1); ++k) {
      if (split.is_ghost[k])
        split.ghost.values[moved++] = values[k];
      else
        split.local.values[k - moved] = values[k];
    }
  }
}

}  // namespace trireme
