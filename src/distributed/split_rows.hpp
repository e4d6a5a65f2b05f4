// SPDX-License-Identifier: BSD-3-Clause
// A rank's rows cut into the columns that it owns and the columns that others own.
//
//   rows of this rank = [ local block | ghost block ]
//   local block: columns first .. last-1, renumbered from 0
//   ghost block: all other columns that occur, renumbered densely in ascending order
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct SplitRows {
  CsrMatrix<double> local;
  CsrMatrix<double> ghost;            // as many rows as local; cols == ghost_columns.size()
  Array<std::int32_t> ghost_columns;  // global ids, ascending
  std::vector<bool> is_ghost;         // of each nonzero in the slab's order; empty without ghosts

  std::int64_t nnz() const { return local.nnz() + ghost.nnz(); }
};

// Consumes the slab: local entries are moved together in place, only ghost entries are copied, and
// without ghosts nothing is. So at the peak at most twice the CSR is held, 1/96 for is_ghost, and
// 3/16 of a byte for each column between the first and the last ghost.
SplitRows split_rows(RowSlab&& slab, std::int64_t first_column, std::int64_t last_column);

// New values in the slab's order, written into both blocks. values.size() == split.nnz().
void scatter_values(std::span<const double> values, SplitRows& split);

}  // namespace trireme
