// SPDX-License-Identifier: BSD-3-Clause
// The diagonal of a level, and what the set-up demands of its values.
#include "multigrid/row_checks.hpp"

#include <cmath>
#include <cstdint>

#include "multigrid/host_place.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/row_checks_rows.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

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

}  // namespace trireme::multigrid
