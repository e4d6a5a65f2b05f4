// SPDX-License-Identifier: BSD-3-Clause
// The diagonal of a level, and what the set-up demands of its values.
#include "multigrid/row_checks.hpp"

#include <cmath>
#include <cstdint>

#include "base/error.hpp"
#include "multigrid/host_place.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/row_checks_rows.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

struct ReadRow {
  const std::int32_t* row_ptr;
  const double* values;
  const std::int32_t* ghost_ptr;  // null without a ghost block
  const double* ghost_values;

  // Whether the row has no entry other than zero.
  TRIREME_HD bool operator()(std::int64_t i) const {
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      if (values[k] != 0) return false;
    if (ghost_ptr)
      for (std::int32_t k = ghost_ptr[i]; k < ghost_ptr[i + 1]; ++k)
        if (ghost_values[k] != 0) return false;
    return true;
  }
};

}  // namespace

Array<double> checked_diagonal(const LocalRows& a) {
  const std::int64_t rows = a.local.rows;
  Array<double> diagonal(rows);
  const bool ghosts = a.ghost.nnz() > 0;
  const ReadDiagonal read{a.local.row_ptr.data(), a.local.col_idx.data(),
                          a.local.values.data(),  ghosts ? a.ghost.row_ptr.data() : nullptr,
                          a.ghost.values.data(),  diagonal.data()};
  // The first unfit row has the largest number of rows from it to the end.
  const std::int64_t behind = HostPlace::maximum(
      rows, std::int64_t{0}, [&](std::int64_t i) { return read(i) ? rows - i : 0; });
  if (behind > 0) refuse_row(a.first_row + rows - behind, diagonal[rows - behind]);
  return diagonal;
}

void require_nonzero_rows(const LocalRows& a) {
  const std::int64_t rows = a.local.rows;
  const bool ghosts = a.ghost.nnz() > 0;
  const ReadRow is_zero{a.local.row_ptr.data(), a.local.values.data(),
                        ghosts ? a.ghost.row_ptr.data() : nullptr, a.ghost.values.data()};
  const std::int64_t behind = HostPlace::maximum(
      rows, std::int64_t{0}, [&](std::int64_t i) { return is_zero(i) ? rows - i : 0; });
  if (behind > 0)
    fail(ExitCode::input,
         "row {} (from 0) has no entry other than zero, so that the matrix is singular: remove the "
         "row and its column, or give the row a diagonal entry",
         a.first_row + rows - behind);
}

}  // namespace trireme::multigrid
