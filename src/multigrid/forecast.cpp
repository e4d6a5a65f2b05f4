// SPDX-License-Identifier: BSD-3-Clause
// A linear model of measured peaks.
#include "multigrid/forecast.hpp"

#include <algorithm>

#include "base/available_memory.hpp"
#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

namespace {

// Bytes per row, per nonzero, and per row for each column beyond the first that P has for an
// aggregate. They are measured peaks of poisson, mesh, diffusion and elasticity matrices, with a
// margin.
struct Peak {
  double row, entry, column;
};

Peak peak_of(bool several_ranks, bool mixed) {
  if (several_ranks) return mixed ? Peak{530, 15, 450} : Peak{480, 12, 450};
  return mixed ? Peak{385, 8, 310} : Peak{335, 5, 310};
}

}  // namespace

std::int64_t forecast_bytes(const DistributedMatrix& matrix, std::int32_t width,
                            const Options& options) {
  const auto rows = static_cast<double>(matrix.local_rows());
  const auto nnz = static_cast<double>(matrix.blocks.nnz());
  const bool several_ranks = size_of(matrix.comm) > 1;
  const Peak peak = peak_of(several_ranks, options.precision == Precision::mixed);
  const double columns = width > 0 ? width : options.block_size;
  const auto coarsest = static_cast<double>(options.coarsest_rows);
  // A small matrix has a small inverse.
  const double inverse =
      std::min(coarsest * coarsest * (several_ranks ? 8 : 4), 0.25 * peak.row * rows);
  return static_cast<std::int64_t>(rows * (peak.row + peak.column * (columns - 1)) +
                                   peak.entry * nnz + inverse);
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
           "setting up multigrid may take {:.2f} GiB on this rank, {:.2f} GiB of address "
           "space are left; use more ranks, or raise the limit (ulimit -v)",
           gib(mine), gib(available.own));
    if (of_node > shared)
      fail(ExitCode::resource,
           "setting up multigrid may take {:.2f} GiB on this node, {:.2f} GiB are "
           "available; use more nodes, or preconditioner: jacobi, which needs 8 bytes per row",
           gib(of_node), gib(shared));
  });
}

}  // namespace trireme::multigrid
