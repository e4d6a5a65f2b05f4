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

struct Entry {
  std::int32_t column;
  std::int32_t position;
  double value;
};

bool ascends(std::span<const std::int32_t> columns) {
  bool strictly = true;
  for (std::size_t k = 1; k < columns.size(); ++k) strictly &= columns[k - 1] < columns[k];
  return strictly;
}

// Sorts the entries of a row, adds up duplicates, leaves the rest at the front of the row, and
// returns how many there are.
std::int32_t sort_and_sum(std::span<std::int32_t> columns, std::span<double> values,
                          std::vector<Entry>& entries) {
  entries.resize(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k)
    entries[k] = {columns[k], static_cast<std::int32_t>(k), values[k]};
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.column != b.column ? a.column < b.column : a.position < b.position;
  });
  std::int32_t kept = 0;
  for (const Entry& entry : entries) {
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
void compact(CsrMatrix<double>& matrix, const Array<std::int32_t>& kept) {
  std::int32_t to = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int32_t from = matrix.row_ptr[row];
    std::copy_n(&matrix.col_idx[from], kept[row], &matrix.col_idx[to]);
    std::copy_n(&matrix.values[from], kept[row], &matrix.values[to]);
    matrix.row_ptr[row] = to;
    to += kept[row];
  }
  matrix.row_ptr[matrix.rows] = to;
  matrix.col_idx.resize(to);
  matrix.values.resize(to);
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

std::int64_t row_of_entry(std::span<const std::int32_t> row_ptr, std::int64_t entry) {
  return std::upper_bound(row_ptr.begin(), row_ptr.end(), entry) - row_ptr.begin() - 1;
}

CanonicalRows make_rows_canonical(CsrMatrix<double>& matrix) {
  const auto columns = [&](std::int64_t row) {
    return std::span(matrix.col_idx)
        .subspan(matrix.row_ptr[row], matrix.row_ptr[row + 1] - matrix.row_ptr[row]);
  };
  bool in_order = true;
#pragma omp parallel for reduction(&& : in_order) schedule(static)
  for (std::int64_t row = 0; row < matrix.rows; ++row) in_order = in_order && ascends(columns(row));
  if (in_order) return {};

  Array<std::int32_t> kept(matrix.rows);
  std::int64_t summed = 0;
#pragma omp parallel reduction(+ : summed)
  {
    std::vector<Entry> entries;
#pragma omp for schedule(dynamic, 256)
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const std::span<std::int32_t> mine = columns(row);
      kept[row] = static_cast<std::int32_t>(mine.size());
      if (ascends(mine)) continue;
      const auto values = std::span(matrix.values).subspan(matrix.row_ptr[row], mine.size());
      kept[row] = sort_and_sum(mine, values, entries);
      summed += std::ssize(mine) - kept[row];
    }
  }
  if (summed > 0) compact(matrix, kept);
  return {.were_in_order = false, .summed = summed};
}

}  // namespace trireme
