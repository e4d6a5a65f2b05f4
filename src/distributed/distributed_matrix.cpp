// SPDX-License-Identifier: BSD-3-Clause
// Builds a rank's part of the matrix, and gives its diagonal.
#include "distributed/distributed_matrix.hpp"

#include <limits>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme {

std::int64_t DistributedMatrix::first_row() const { return row_starts[rank_of(comm)]; }

std::int64_t DistributedMatrix::csr_bytes() const {
  return blocks.nnz() * static_cast<std::int64_t>(sizeof(double) + sizeof(std::int32_t)) +
         (local_rows() + 1) * static_cast<std::int64_t>(sizeof(std::int32_t));
}

void DistributedMatrix::require_32_bits() const {
  collectively(comm, [&] {
    blocks.local.require_one_block();
    if (global_rows() > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource,
           "{} rows, of which graph partitioning, multigrid and block Jacobi take at most 2^31-1; "
           "leave these out",
           global_rows());
  });
}

void DistributedMatrix::diagonal(std::span<double> d) const {
  for (const RowBlock<double>& block : blocks.local.blocks()) {
    const CsrView<double>& a = block.csr;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      double sum = 0;
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
        if (a.col_idx[k] == block.first_row + row) sum += a.values[k];
      d[block.first_row + row] = sum;
    }
  }
}

void DistributedMatrix::replace_values(std::span<const double> values) {
  scatter_values(values, blocks);
  ++values_version;
}

void DistributedMatrix::exchange_values(Array<double>& values) {
  if (!blocks.is_ghost.empty() || values.size() != blocks.local.values.size())
    throw Error(ExitCode::internal, "values can be exchanged only where no row has a ghost");
  std::swap(blocks.local.values, values);
  ++values_version;
}

std::shared_ptr<DistributedMatrix> distribute(MPI_Comm comm, RowSlab&& slab,
                                              std::vector<std::int64_t> row_starts) {
  auto matrix = std::make_shared<DistributedMatrix>();
  collectively(comm, [&] {
    if (slab.global_rows != slab.global_cols)
      fail(ExitCode::input, "the matrix is {} x {}: a linear system needs a square one",
           slab.global_rows, slab.global_cols);
    require_local_rows("the matrix", slab.local.rows);
    matrix->comm = comm;
    matrix->row_starts = std::move(row_starts);
    matrix->global_nnz = slab.global_nnz;
    const int rank = rank_of(comm);
    matrix->blocks =
        split_rows(std::move(slab), matrix->row_starts[rank], matrix->row_starts[rank + 1]);
  });
  matrix->halo = plan_halo(comm, matrix->row_starts,
                           std::span<const std::int64_t>(matrix->blocks.ghost_columns));
  return matrix;
}

}  // namespace trireme
