// SPDX-License-Identifier: BSD-3-Clause
// A linear model of measured peaks.
#include "multigrid/forecast.hpp"

#include <algorithm>

#include "distributed/set_up_memory.hpp"
#include "parallel/collective.hpp"

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
  require_set_up_memory(comm, forecast_bytes(matrix, width, options), "setting up multigrid");
}

}  // namespace trireme::multigrid
