// SPDX-License-Identifier: BSD-3-Clause
// The counts of each rank's two blocks, summed over the ranks.
#include "app/figures/pattern_picture.hpp"

#include <mpi.h>

#include <utility>

#include "sparse/pattern_counts.hpp"

namespace trireme {
namespace {

void sum_over_ranks(MPI_Comm comm, std::vector<std::int64_t>& counts) {
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM,
                comm);
}

// Collective.
PatternPicture picture_of_all(MPI_Comm comm, PatternCounts&& counts) {
  sum_over_ranks(comm, counts.density);
  sum_over_ranks(comm, counts.row_lengths);
  while (!counts.row_lengths.empty() && counts.row_lengths.back() == 0)
    counts.row_lengths.pop_back();
  return {.cells = counts.cells,
          .density = std::move(counts.density),
          .row_lengths = std::move(counts.row_lengths)};
}

}  // namespace

PatternPicture picture_of(MPI_Comm comm, const RowSlab& slab) {
  PatternCounts counts(slab.global_rows, slab.global_cols);
  for (const RowBlock<double>& block : slab.local.blocks()) {
    counts.add_nonzeros(block.csr, slab.first_row + block.first_row, 0);
    counts.add_row_lengths(block.csr, {});
  }
  return picture_of_all(comm, std::move(counts));
}

PatternPicture picture_of(const DistributedMatrix& matrix) {
  const SplitRows& blocks = matrix.blocks;
  PatternCounts counts(matrix.global_rows(), matrix.global_rows());
  for (const SplitRows::Rows& part : blocks.rows_by_blocks()) {
    const std::int64_t first_row = matrix.first_row() + part.first_row;
    counts.add_nonzeros(part.local, first_row, matrix.first_row());
    counts.add_nonzeros(part.ghost, first_row, 0, blocks.ghost_columns);
    counts.add_row_lengths(part.local, part.ghost);
  }
  return picture_of_all(matrix.comm, std::move(counts));
}

}  // namespace trireme
