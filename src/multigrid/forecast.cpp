// SPDX-License-Identifier: BSD-3-Clause
// Adds up the arrays of the finest level and of its transfer. Coarser levels count as a 16th of the
// matrix, which dense stencils come close to.
#include "multigrid/forecast.hpp"

#include <algorithm>

#include "base/available_memory.hpp"
#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

std::int64_t forecast_bytes(const DistributedMatrix& matrix, std::int32_t width,
                            const Options& options) {
  const std::int64_t rows = matrix.local_rows(), nnz = matrix.blocks.nnz();
  const std::int64_t columns = std::max<std::int32_t>(1, width);  // of P in one aggregate
  const std::int64_t values = options.precision == Precision::mixed ? 4 : 0;
  // P and P^T: values, columns, the source of each entry, and the values of the kernels.
  const std::int64_t transfer = rows * columns * (2 * 12 + 4 + 2 * values);
  // The pattern of ExtendedRows.
  const std::int64_t extended = size_of(matrix.comm) > 1 ? (nnz + rows) * 4 : 0;
  return nnz * values + rows * 3 * 8 + transfer + extended + nnz / 16 * 28;
}

void require_memory_of(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t width,
                       const Options& options) {
  const std::int64_t mine = forecast_bytes(matrix, width, options);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const std::int64_t of_node = sum_over_ranks(node, mine);
  const AvailableMemory available = available_memory();
  std::int64_t shared = available.shared;
  MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT64_T, MPI_MIN, node);
  MPI_Comm_free(&node);
  const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  collectively(comm, [&] {
    if (mine > available.own)
      fail(ExitCode::resource,
           "the multigrid hierarchy takes at least {:.2f} GiB on this rank, {:.2f} GiB of address "
           "space are left; use more ranks, or raise the limit (ulimit -v)",
           gib(mine), gib(available.own));
    if (of_node > shared)
      fail(ExitCode::resource,
           "the multigrid hierarchy takes at least {:.2f} GiB on this node, {:.2f} GiB are "
           "available; use more nodes, or preconditioner: jacobi, which needs 8 bytes per row",
           gib(of_node), gib(shared));
  });
}

}  // namespace trireme::multigrid
