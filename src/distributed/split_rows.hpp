// SPDX-License-Identifier: BSD-3-Clause
// The rows of a rank, cut into the columns that the rank owns and the columns that others own.
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
  CsrMatrix<double> ghost;            // the rows and cuts of local; cols == ghost_columns.size()
  Array<std::int64_t> ghost_columns;  // global ids, ascending
  std::vector<bool> is_ghost;         // per nonzero of the slab; empty without ghosts

  std::int64_t nnz() const { return local.nnz() + ghost.nnz(); }

  // The rows from first_row on that lie in one block.
  struct Rows {
    std::int64_t first_row = 0;
    CsrView<double> local;
    CsrView<double> ghost;  // nnz() == 0 where the rank has no ghosts
  };
  std::vector<Rows> rows_by_blocks() const;
};

// Cuts the slab for a rank that owns the columns [first_column, last_column). Local entries move
// together within the arrays of the slab, ghost entries are copied; without ghosts nothing is. The
// peak of memory is twice the CSR, 8 bytes per ghost entry and thread (no more than for all
// entries), 1/96 of the CSR for is_ghost, and 3/16 byte per column between the first and the last
// ghost column. Columns of 64 bits take 8 bytes per nonzero beside that.
SplitRows split_rows(RowSlab&& slab, std::int64_t first_column, std::int64_t last_column);

// Writes new values, in the order of the slab, into both blocks. values.size() == split.nnz().
void scatter_values(std::span<const double> values, SplitRows& split);

}  // namespace trireme
