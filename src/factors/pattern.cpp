// SPDX-License-Identifier: BSD-3-Clause
#include "factors/pattern.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "factors/levels.hpp"
#include "ordering/neighbours.hpp"
#include "ordering/ordering.hpp"
#include "sparse/permuted.hpp"

namespace trireme::factors {
namespace {

constexpr std::int32_t kLongRow = 512;

// Rows in the order of their colours; a row has the first colour that no neighbour before it has.
// Where there is fill, the neighbours of neighbours are neighbours too.
Array<std::int32_t> order_by_colours(const CsrView<double>& a, bool with_fill) {
  const Neighbours graph(a);
  Array<std::int32_t> colour(a.rows, -1);
  std::vector<std::int32_t> taken_by;  // the last row whose neighbour has the colour
  std::vector<std::int32_t> starts{0};
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const auto take = [&](std::int32_t j) {
      if (colour[j] >= 0) taken_by[colour[j]] = i;
    };
    graph.for_each(i, [&](std::int32_t j) {
      take(j);
      if (with_fill && graph.degree(j) <= kLongRow) graph.for_each(j, take);
    });
    const auto free = std::ranges::find_if(taken_by, [&](std::int32_t row) { return row != i; });
    colour[i] = static_cast<std::int32_t>(free - taken_by.begin());
    if (free == taken_by.end()) {
      taken_by.push_back(-1);
      starts.push_back(0);
    }
    ++starts[colour[i] + 1];
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  Array<std::int32_t> order(a.rows);
  for (std::int32_t i = 0; i < a.rows; ++i) order[starts[colour[i]]++] = i;
  return order;
}

Array<std::int32_t> make_order(const IluChoice& choice, const CsrView<double>& a) {
  if (choice.order == RowOrder::rcm) return reverse_cuthill_mckee(a);
  if (choice.order == RowOrder::colours) return order_by_colours(a, choice.levels > 0);
  return {};
}

// Takes the rows of A as they are. False where a row does not ascend or lacks its diagonal: then
// nothing in `pattern` is of use.
bool take_entries_of(const CsrView<double>& a, FactorPattern& pattern) {
  pattern.row_ptr.resize(a.rows + 1);
  pattern.col_idx.resize(a.nnz());
  pattern.place.resize(a.nnz());
  pattern.diagonal.resize(a.rows);
  pattern.row_ptr[0] = 0;
  const auto rows = static_cast<std::int32_t>(a.rows);
  bool serves = true;
#pragma omp parallel for schedule(static) reduction(&& : serves) if (rows > kRowsOfOneThread)
  for (std::int32_t i = 0; i < rows; ++i) {
    std::int32_t before = -1, diagonal = -1;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t column = a.col_idx[k];
      serves = serves && column > before;
      if (column == i) diagonal = k;
      pattern.col_idx[k] = before = column;
      pattern.place[k] = k;
    }
    serves = serves && diagonal >= 0;
    pattern.diagonal[i] = diagonal;
    pattern.row_ptr[i + 1] = a.row_ptr[i + 1];
  }
  return serves;
}

// The position of each column of A.
class Positions {
 public:
  explicit Positions(const FactorPattern& pattern)
      : of_rows_(pattern.order.empty() ? Array<std::int32_t>() : inverse_of(pattern.order)) {}
  std::int32_t operator[](std::int32_t column) const {
    return of_rows_.empty() ? column : of_rows_[column];
  }

 private:
  Array<std::int32_t> of_rows_;
};

// The pattern of A in the order of elimination: ascending columns without duplicates, each row with
// its diagonal.
void sort_entries_of(const CsrView<double>& a, const Positions& positions, FactorPattern& pattern) {
  const auto rows = static_cast<std::int32_t>(a.rows);
  // Row i of A has room for its diagonal too, which may be missing.
  Array<std::int32_t> sorted(a.nnz() + a.rows);
  const auto first_of = [&](std::int32_t row) { return sorted.data() + a.row_ptr[row] + row; };
  pattern.row_ptr.resize(a.rows + 1);
  pattern.row_ptr[0] = 0;
#pragma omp parallel for schedule(static) if (rows > kRowsOfOneThread)
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::int32_t row = pattern.row_of(i);
    std::int32_t *const first = first_of(row), *last = first;
    *last++ = i;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      *last++ = positions[a.col_idx[k]];
    std::sort(first, last);
    pattern.row_ptr[i + 1] = static_cast<std::int32_t>(std::unique(first, last) - first);
  }
  std::partial_sum(pattern.row_ptr.begin(), pattern.row_ptr.end(), pattern.row_ptr.begin());
  pattern.col_idx.resize(pattern.row_ptr.back());
#pragma omp parallel for schedule(static) if (rows > kRowsOfOneThread)
  for (std::int32_t i = 0; i < rows; ++i)
    std::copy_n(first_of(pattern.row_of(i)), pattern.row_ptr[i + 1] - pattern.row_ptr[i],
                pattern.col_idx.begin() + pattern.row_ptr[i]);
}

// Entries of A, and the diagonal, know their places.
void find_places(const CsrView<double>& a, const Positions& positions, FactorPattern& pattern) {
  const auto rows = static_cast<std::int32_t>(a.rows);
  pattern.diagonal.resize(a.rows);
  pattern.place.resize(a.nnz());
#pragma omp parallel for schedule(static) if (rows > kRowsOfOneThread)
  for (std::int32_t i = 0; i < rows; ++i) {
    const auto begin = pattern.col_idx.begin();
    const auto place_of = [&](std::int32_t position) {
      return static_cast<std::int32_t>(
          std::lower_bound(begin + pattern.row_ptr[i], begin + pattern.row_ptr[i + 1], position) -
          begin);
    };
    pattern.diagonal[i] = place_of(i);
    const std::int32_t row = pattern.row_of(i);
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      pattern.place[k] = place_of(positions[a.col_idx[k]]);
  }
}

// Longer rows of U make no fill.
std::int32_t longest_that_fills(const FactorPattern& pattern) {
  const std::int64_t mean = pattern.rows == 0 ? 0 : pattern.nnz() / pattern.rows;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(std::max<std::int64_t>(256, 8 * mean), kMostNonzerosOfBlock));
}

// A row as a list of ascending columns with their levels of fill.
class FillingRow {
 public:
  explicit FillingRow(std::int64_t rows) : next_(rows + 1), level_(rows + 1) {}

  // The row ends at column `end`.
  void begin(std::span<const std::int32_t> columns, std::int32_t end) {
    first_ = columns.front();
    for (std::size_t k = 0; k < columns.size(); ++k) {
      next_[columns[k]] = k + 1 < columns.size() ? columns[k + 1] : end;
      level_[columns[k]] = 0;
    }
  }
  std::int32_t first() const { return first_; }
  std::int32_t next(std::int32_t column) const { return next_[column]; }
  std::int8_t level(std::int32_t column) const { return level_[column]; }
  // `after` is a column of the row before `column`; returns the last one that is not behind it.
  std::int32_t add(std::int32_t column, std::int8_t level, std::int32_t after) {
    while (next_[after] <= column) after = next_[after];
    if (after == column) {
      level_[column] = std::min(level_[column], level);
    } else {
      next_[column] = next_[after];
      next_[after] = column;
      level_[column] = level;
    }
    return column;
  }

 private:
  Array<std::int32_t> next_;
  Array<std::int8_t> level_;
  std::int32_t first_ = 0;
};

void fill(std::int32_t most_levels, FactorPattern& pattern) {
  const auto rows = static_cast<std::int32_t>(pattern.rows);
  const std::int32_t longest = longest_that_fills(pattern);
  FillingRow row(rows);
  Array<std::int32_t> row_ptr(rows + 1), columns, diagonal(rows);
  Array<std::int8_t> levels;  // of `columns`
  columns.reserve(pattern.col_idx.size() * 2);
  levels.reserve(columns.capacity());
  row_ptr[0] = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    row.begin(std::span(pattern.col_idx)
                  .subspan(pattern.row_ptr[i], pattern.row_ptr[i + 1] - pattern.row_ptr[i]),
              rows);
    for (std::int32_t k = row.first(); k < i; k = row.next(k)) {
      if (row_ptr[k + 1] - diagonal[k] > longest) continue;
      std::int32_t after = k;
      for (std::int32_t e = diagonal[k] + 1; e < row_ptr[k + 1]; ++e) {
        const int level = row.level(k) + levels[e] + 1;
        if (level <= most_levels)
          after = row.add(columns[e], static_cast<std::int8_t>(level), after);
      }
    }
    for (std::int32_t k = row.first(); k < rows; k = row.next(k)) {
      if (k == i) diagonal[i] = static_cast<std::int32_t>(columns.size());
      columns.push_back(k);
      levels.push_back(row.level(k));
    }
    if (std::ssize(columns) > kMostNonzerosOfBlock)
      fail(ExitCode::resource,
           "incomplete factors have more than {} entries on a process; use more processes, or "
           "fewer levels of fill",
           kMostNonzerosOfBlock);
    row_ptr[i + 1] = static_cast<std::int32_t>(columns.size());
  }
  pattern.row_ptr = std::move(row_ptr);
  pattern.col_idx = std::move(columns);
}

}  // namespace

FactorPattern make_pattern(const CsrView<double>& a, const IluChoice& choice) {
  if (a.nnz() + a.rows > kMostNonzerosOfBlock)
    fail(ExitCode::resource,
         "incomplete factors need at most {} nonzeros and rows on a process; use more processes",
         kMostNonzerosOfBlock);
  FactorPattern pattern;
  pattern.rows = a.rows;
  pattern.order = make_order(choice, a);
  pattern.has_entries_of_a = choice.order == RowOrder::given && take_entries_of(a, pattern);
  if (!pattern.has_entries_of_a || choice.levels > 0) {
    const Positions positions(pattern);
    if (!pattern.has_entries_of_a) sort_entries_of(a, positions, pattern);
    if (choice.levels > 0) fill(choice.levels, pattern);
    pattern.has_entries_of_a = pattern.has_entries_of_a && pattern.nnz() == a.nnz();
    find_places(a, positions, pattern);
  }
  find_levels(pattern);
  return pattern;
}

}  // namespace trireme::factors
