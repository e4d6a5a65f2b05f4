// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/spai.hpp"

#include <optional>
#include <span>

#include "inverses/grown_rows.hpp"
#include "inverses/least_squares_row.hpp"

namespace trireme::inverses {
namespace {

using Pattern = std::span<const std::int32_t>;

constexpr std::int64_t kBytesPerRowOfThread = 25, kBytesPerEntryOfColumns = 12;

// The scaled rows of a matrix, and their columns.
struct RowsAndColumns {
  // For rows that grow by so many steps.
  RowsAndColumns(const DistributedMatrix& matrix, std::int32_t steps)
      : rows(matrix, RowScaling::norms) {
    require_memory_of_rows(matrix, rows, steps, kBytesPerRowOfThread,
                           rows.entries() * kBytesPerEntryOfColumns);
    collectively(matrix.comm, [&] { columns.emplace(rows); });
  }
  LeastSquaresRow new_row() const { return {rows, *columns}; }
  // The entries of a row of M, scaled to A itself.
  template <class Put>
  void put_row(const LeastSquaresRow& row, const Put& put) const {
    for (const auto& [column, number] : row.entries()) put(column, number * rows.scale(column));
  }

  ScaledRows rows;
  std::optional<ScaledColumns> columns;
};

}  // namespace

RowSlab make_spai(const DistributedMatrix& matrix, const SpaiOptions& options) {
  const RowsAndColumns a(matrix, options.steps);
  return grown_rows(
      matrix, a.rows, [&] { return a.new_row(); },
      [&](std::int64_t i, LeastSquaresRow& row) {
        row.grow(a.rows.first_own() + i, options.steps);
      },
      [&](std::int64_t, const LeastSquaresRow& row, const auto& put) { a.put_row(row, put); });
}

void renew_spai(const DistributedMatrix& matrix, RowSlab& m) {
  const RowsAndColumns a(matrix, 0);
  refill_rows(
      matrix, a.rows, m, [&] { return a.new_row(); },
      [&](std::int64_t i, LeastSquaresRow& row, Pattern pattern) {
        row.fill(a.rows.first_own() + i, pattern);
      },
      [&](std::int64_t, const LeastSquaresRow& row, const auto& put) { a.put_row(row, put); });
}

}  // namespace trireme::inverses
