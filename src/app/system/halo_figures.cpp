// SPDX-License-Identifier: BSD-3-Clause
// Counts ghosts, and measures the exchange with the plan that an operator would use.
#include "app/system/halo_figures.hpp"

#include <algorithm>
#include <limits>

#include "base/stopwatch.hpp"
#include "distributed/column_set.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Microseconds. Collective.
double exchange_us(MPI_Comm comm, const HaloPlan& plan) {
  constexpr int kExchanges = 20;  // the first one opens connections
  constexpr double kSeconds = 0.05;
  Array<double> x, packed, ghosts;
  collectively(comm, [&] {
    std::int32_t rows = 0;
    for (const std::int32_t row : plan.send_rows) rows = std::max(rows, row + 1);
    x.resize(rows);
#pragma omp parallel for schedule(static)
    for (std::int32_t row = 0; row < rows; ++row) x[row] = 1;
    packed.resize(plan.send_rows.size());
    ghosts.resize(plan.ghosts);
  });
  HaloExchange exchange(comm, plan, packed, ghosts);
  double fastest = std::numeric_limits<double>::infinity();
  double spent = 0;  // the same on all ranks
  for (int k = 0; k < kExchanges && (k < 4 || spent < kSeconds); ++k) {
    MPI_Barrier(comm);
    const Stopwatch watch;
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = x[plan.send_rows[i]];
    exchange.begin();
    exchange.end();
    const double seconds = max_over_ranks(comm, watch.seconds());
    if (k > 0) fastest = std::min(fastest, seconds);
    spent += seconds;
  }
  return 1e6 * fastest;
}

}  // namespace

HaloOutcome halo_figures(MPI_Comm comm, const HaloPlan& plan, std::int64_t nnz, bool measure) {
  std::int64_t max[2] = {plan.ghosts, nnz}, sum[2] = {plan.ghosts, nnz};
  MPI_Allreduce(MPI_IN_PLACE, max, 2, MPI_INT64_T, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, comm);
  HaloOutcome figures{.ghosts = max[0], .all_ghosts = sum[0]};
  if (sum[1] > 0)
    figures.balance = static_cast<double>(max[1]) * size_of(comm) / static_cast<double>(sum[1]);
  if (measure) figures.exchange_us = exchange_us(comm, plan);
  return figures;
}

HaloOutcome halo_figures(MPI_Comm comm, const RowSlab& slab,
                         std::span<const std::int64_t> row_starts, bool measure) {
  Array<std::int64_t> ghosts;
  collectively(comm, [&] {
    const int rank = rank_of(comm);
    const std::int64_t first = row_starts[rank], last = row_starts[rank + 1];
    ghosts = slab.is_wide() ? columns_outside<std::int64_t>(slab.wide_columns, first, last).list()
                            : columns_outside<std::int32_t>(slab.local.col_idx, first, last).list();
  });
  return halo_figures(comm, plan_halo(comm, row_starts, std::span<const std::int64_t>(ghosts)),
                      slab.local.nnz(), measure);
}

}  // namespace trireme
