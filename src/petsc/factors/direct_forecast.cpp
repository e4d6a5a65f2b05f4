// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/factors/direct_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
#include "petsc/factors/mumps.hpp"
#include "petsc/factors/package.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// Whether the memory suffices on every node and rank. Collective.
bool fits(MPI_Comm comm, double bytes_here) {
  const NodeMemory memory = node_memory(comm, static_cast<std::int64_t>(bytes_here));
  return !any_rank(comm,
                   bytes_here > static_cast<double>(memory.own) || memory.needed > memory.shared);
}

}  // namespace

// By minimum fill, the order of elimination is found in about linear time, but for graphs with many
// rows that are much longer than others. Rows beyond 10 sqrt(n) are set aside. Fitted to 76 matrices
// of 180 to 115,000 rows: most took 0.4 to 2 times this.
double expected_forecast_seconds(const DistributedMatrix& matrix) {
  constexpr double kAtLeast = 1e-3, kPerRow = 2.5e-7, kPerNonzero = 6e-8;
  constexpr double kPerPairOfALongRow = 4e-8;
  constexpr double kLong = 8, kSetAside = 10;  // times the mean, times sqrt(n)
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, matrix.global_rows()));
  const double nnz = static_cast<double>(matrix.global_nnz), mean = nnz / rows;
  double pairs = 0;
  for (const SplitRows::Rows& part : matrix.blocks.rows_by_blocks())
    for (std::int64_t i = 0; i < part.local.rows; ++i) {
      double length = part.local.row_ptr[i + 1] - part.local.row_ptr[i];
      if (part.ghost.nnz() > 0) length += part.ghost.row_ptr[i + 1] - part.ghost.row_ptr[i];
      if (length > kLong * mean && length <= kSetAside * std::sqrt(rows)) pairs += length * length;
    }
  MPI_Allreduce(MPI_IN_PLACE, &pairs, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  return kAtLeast + kPerRow * rows + kPerNonzero * nnz + kPerPairOfALongRow * pairs;
}

std::optional<DirectForecast> forecast_direct(
    const std::shared_ptr<const DistributedMatrix>& matrix, bool symmetric) {
  const Stopwatch watch;
  auto analysis = std::make_shared<FactorAnalysis>();
  analysis->entries = std::make_unique<AssembledMat>(matrix, AijUse::preconditioner);
  const Mat mat = analysis->entries->mat();
  const FactorPackages packages = packages_for(mat);
  const bool half = symmetric && packages.mumps_cholesky;
  if (!half && !packages.mumps_lu) return std::nullopt;
  auto first =
      std::make_unique<MumpsAnalysis>(mat, half, MumpsAnalysis::Order::minimum_fill, nullptr);
  if (first->has_failed()) return std::nullopt;
  if (!fits(matrix->comm, first->estimate().bytes_here))
    first = with_better_order(std::move(first), mat, nullptr);
  const mumps::Estimate& of = first->estimate();
  DirectForecast forecast{.nonzeros = of.nonzeros,
                          .operations = of.operations,
                          .bytes = of.bytes,
                          .fits = fits(matrix->comm, of.bytes_here),
                          .factor_seconds = first->factor_seconds(),
                          .solve_seconds = first->solve_seconds()};
  analysis->by_minimum_fill = std::move(first);
  forecast.analysis = std::move(analysis);
  forecast.analysis_seconds = max_over_ranks(matrix->comm, watch.seconds());
  return forecast;
}

}  // namespace trireme
