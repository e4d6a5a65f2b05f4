// SPDX-License-Identifier: BSD-3-Clause
// The counts of each rank's two blocks, summed over the ranks.
#include "app/pattern_picture.hpp"

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
  counts.add_nonzeros(slab.local.view(), slab.first_row, 0);
  const Array<std::int32_t> nothing(slab.local.rows + 1, 0);
  counts.add_row_lengths(
      slab.local.view(),
      {.rows = slab.local.rows, .cols = 0, .row_ptr = nothing, .col_idx = {}, .values = {}});
  return picture_of_all(comm, std::move(counts));
}

PatternPicture picture_of(const DistributedMatrix& matrix) {
  const SplitRows& blocks = matrix.blocks;
  PatternCounts counts(matrix.global_rows(), matrix.global_rows());
  counts.add_nonzeros(blocks.local.view(), matrix.first_row(), matrix.first_row());
  counts.add_nonzeros(blocks.ghost.view(), matrix.first_row(), 0, blocks.ghost_columns);
  counts.add_row_lengths(blocks.local.view(), blocks.ghost.view());
  return picture_of_all(matrix.comm, std::move(counts));
}

}  // namespace trireme
