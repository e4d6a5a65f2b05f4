// SPDX-License-Identifier: BSD-3-Clause
// A linear model of measured peaks.
#include "multigrid/forecast.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"

namespace trireme::multigrid {

namespace {

// Bytes per row, per nonzero, and per row for each column beyond the first that P has for an
// aggregate. They are measured peaks of poisson, mesh, diffusion and elasticity matrices, with a
// margin.
struct HostPeak {
  double row, entry, column;
};

HostPeak peak_of(bool several_ranks, bool mixed) {
  if (several_ranks) return mixed ? HostPeak{610, 16, 450} : HostPeak{570, 17, 450};
  return mixed ? HostPeak{435, 11, 310} : HostPeak{390, 12, 310};
}

}  // namespace

std::int64_t forecast_bytes(const DistributedMatrix& matrix, std::int32_t width,
                            const Options& options) {
  const auto rows = static_cast<double>(matrix.local_rows());
  const auto nnz = static_cast<double>(matrix.blocks.nnz());
  const bool several_ranks = size_of(matrix.comm) > 1;
  const HostPeak peak = peak_of(several_ranks, options.precision == Precision::mixed);
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
  const NodeMemory memory = node_memory(comm, mine);
  const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  collectively(comm, [&] {
    if (mine > memory.own)
      fail(ExitCode::resource,
           "setting up multigrid may take {:.2f} GiB on this rank, {:.2f} GiB of address "
           "space are left; use more ranks, or raise the limit (ulimit -v)",
           gib(mine), gib(memory.own));
    if (memory.needed > memory.shared)
      fail(ExitCode::resource,
           "setting up multigrid may take {:.2f} GiB on this node, {:.2f} GiB are "
           "available; use more nodes, or preconditioner: jacobi, which needs 8 bytes per row",
           gib(memory.needed), gib(memory.shared));
  });
}

}  // namespace trireme::multigrid
