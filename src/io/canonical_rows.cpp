// SPDX-License-Identifier: BSD-3-Clause
// Checks entries and sorts rows with all threads.
#include "io/canonical_rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trireme {
namespace {

template <class Bad>
std::optional<std::int64_t> first_position(std::int64_t count, Bad bad) {
  std::int64_t first = count;
#pragma omp parallel for reduction(min : first) schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    if (bad(i) && i < first) first = i;
  if (first == count) return std::nullopt;
  return first;
}

template <class Column>
struct RowEntry {
  Column column;
  std::int32_t position;
  double value;
};

template <class Column>
bool strictly_ascends(std::span<const Column> columns) {
  bool strictly = true;
  for (std::size_t k = 1; k < columns.size(); ++k) strictly &= columns[k - 1] < columns[k];
  return strictly;
}

// Sorts the entries of a row, adds up duplicates, leaves the rest at the front of the row, and
// returns how many there are.
template <class Column>
std::int32_t sort_and_sum(std::span<Column> columns, std::span<double> values,
                          std::vector<RowEntry<Column>>& entries) {
  entries.resize(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k)
    entries[k] = {columns[k], static_cast<std::int32_t>(k), values[k]};
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.column != b.column ? a.column < b.column : a.position < b.position;
  });
  std::int32_t kept = 0;
  for (const RowEntry<Column>& entry : entries) {
    if (kept > 0 && columns[kept - 1] == entry.column) {
      values[kept - 1] += entry.value;
    } else {
      columns[kept] = entry.column;
      values[kept] = entry.value;
      ++kept;
    }
  }
  return kept;
}

// Closes the gaps that shorter rows left.
template <class Column>
void compact(CsrMatrix<double>& matrix, Array<Column>& col_idx, const Array<std::int32_t>& kept) {
  std::int64_t to = 0;
  for (const RowBlock<double>& block : matrix.blocks()) {
    std::int32_t* const offsets =
        matrix.row_ptr.data() + (block.csr.row_ptr.data() - matrix.row_ptr.data());
    const std::int64_t first = to;
    for (std::int64_t row = 0; row < block.csr.rows; ++row) {
      const std::int64_t from = block.first_entry + offsets[row];
      const std::int32_t count = kept[block.first_row + row];
      std::copy_n(&col_idx[from], count, &col_idx[to]);
      std::copy_n(&matrix.values[from], count, &matrix.values[to]);
      offsets[row] = static_cast<std::int32_t>(to - first);
      to += count;
    }
    offsets[block.csr.rows] = static_cast<std::int32_t>(to - first);
  }
  col_idx.resize(to);
  matrix.values.resize(to);
}

template <class Column>
CanonicalRows make_canonical(CsrMatrix<double>& matrix, Array<Column>& col_idx) {
  const auto columns = [&](std::int64_t row) {
    return std::span(col_idx).subspan(matrix.row_begin(row),
                                      matrix.row_begin(row + 1) - matrix.row_begin(row));
  };
  bool in_order = true;
#pragma omp parallel for reduction(&& : in_order) schedule(static)
  for (std::int64_t row = 0; row < matrix.rows; ++row)
    in_order = in_order && strictly_ascends<Column>(columns(row));
  if (in_order) return {};

  Array<std::int32_t> kept(matrix.rows);
  std::int64_t summed = 0;
#pragma omp parallel reduction(+ : summed)
  {
    std::vector<RowEntry<Column>> entries;
#pragma omp for schedule(dynamic, 256)
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const std::span<Column> mine = columns(row);
      kept[row] = static_cast<std::int32_t>(mine.size());
      if (strictly_ascends<Column>(mine)) continue;
      const auto values = std::span(matrix.values).subspan(matrix.row_begin(row), mine.size());
      kept[row] = sort_and_sum(mine, values, entries);
      summed += std::ssize(mine) - kept[row];
    }
  }
  if (summed > 0) compact(matrix, col_idx, kept);
  return {.were_in_order = false, .summed = summed};
}

}  // namespace

std::optional<std::int64_t> first_out_of_range(std::span<const std::int32_t> indices,
                                               std::int64_t bound) {
  return first_position(std::ssize(indices),
                        [&](std::int64_t i) { return is_out_of_range(indices[i], bound); });
}

std::optional<std::int64_t> first_not_finite(std::span<const double> values) {
  return first_position(std::ssize(values),
                        [&](std::int64_t i) { return is_not_finite(values[i]); });
}

std::int64_t row_of_entry(const CsrMatrix<double>& matrix, std::int64_t entry) {
  std::int64_t low = 0, high = matrix.rows;  // row low begins at or before the entry
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (matrix.row_begin(middle) <= entry ? low : high) = middle;
  }
  return low;
}

CanonicalRows make_rows_canonical(CsrMatrix<double>& matrix) {
  return make_canonical(matrix, matrix.col_idx);
}

CanonicalRows make_rows_canonical(RowSlab& slab) {
  return slab.is_wide() ? make_canonical(slab.local, slab.wide_columns)
                        : make_canonical(slab.local, slab.local.col_idx);
}

}  // namespace trireme
