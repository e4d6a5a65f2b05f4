// SPDX-License-Identifier: BSD-3-Clause
// The diagonal of a level, and what the set-up demands of its values.
#include "multigrid/set_up/row_checks.hpp"

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/row_checks_functors.hpp"

namespace trireme::multigrid {
namespace {

// Returns the first of `rows` rows for which unfit(i) holds, or `rows`.
template <class Unfit>
std::int64_t first_unfit(std::int64_t rows, const Unfit& unfit) {
  // The first unfit row has the largest number of rows from it to the end.
  return rows - HostPlace::maximum(rows, std::int64_t{0},
                                   [&](std::int64_t i) { return unfit(i) ? rows - i : 0; });
}

}  // namespace

Array<double> checked_diagonal(const LocalRows& a) {
  const std::int64_t rows = a.local.rows;
  Array<double> diagonal(rows);
  const ReadDiagonal read{a.local.row_ptr.data(), a.local.col_idx.data(), a.local.values.data(),
                          diagonal.data()};
  const std::int64_t row = first_unfit(rows, read);
  if (row < rows) refuse_row(a.callers_row(row), diagonal[row]);
  return diagonal;
}

void require_nonzero_rows(const LocalRows& a) {
  const std::int64_t row = first_unfit(a.local.rows, [&](std::int64_t i) {
    const auto values =
        a.local.values.subspan(a.local.row_ptr[i], a.local.row_ptr[i + 1] - a.local.row_ptr[i]);
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
  });
  if (row < a.local.rows)
    fail(ExitCode::input,
         "row {} (from 0) has no entry other than zero, so that the matrix is singular: remove the "
         "row and its column, or give the row a diagonal entry",
         a.callers_row(row));
}

}  // namespace trireme::multigrid
