// SPDX-License-Identifier: BSD-3-Clause
// Walks over the entries of the slab and over both blocks at once.
#include "distributed/same_pattern.hpp"

#include <algorithm>

namespace trireme {
namespace {

bool same_columns(const SplitRows& split, std::int64_t first_column, const RowSlab& read) {
  const CsrMatrix<double>& slab = read.local;
  if (slab.rows != split.local.rows || slab.nnz() != split.nnz()) return false;
  const bool ghosts = split.ghost.nnz() > 0;
  bool same = true;
#pragma omp parallel for schedule(static) reduction(&& : same)
  for (std::int64_t row = 0; row < slab.rows; ++row) {
    std::int64_t local = split.local.row_begin(row), ghost = split.ghost.row_begin(row);
    const std::int64_t begin = local + ghost;  // where the row begins in the slab
    const std::int64_t end = split.local.row_begin(row + 1) + split.ghost.row_begin(row + 1);
    if (slab.row_begin(row) != begin || slab.row_begin(row + 1) != end) {
      same = false;
      continue;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = ghosts && split.is_ghost[k]
                                      ? split.ghost_columns[split.ghost.col_idx[ghost++]]
                                      : first_column + split.local.col_idx[local++];
      // The walk ends at the first difference, because the blocks may have other lengths then.
      if (column != read.column(k)) {
        same = false;
        break;
      }
    }
  }
  return same;
}

}  // namespace

bool same_pattern(const DistributedMatrix& matrix, const RowSlab& slab,
                  std::span<const std::int64_t> row_starts) {
  int same = std::ranges::equal(matrix.row_starts, row_starts) &&
                     same_columns(matrix.blocks, matrix.first_row(), slab)
                 ? 1
                 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, matrix.comm);
  return same == 1;
}

}  // namespace trireme
