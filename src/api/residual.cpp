// SPDX-License-Identifier: BSD-3-Clause
#include "api/residual.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "distributed/row_sizes.hpp"

namespace trireme::api {
namespace {

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  return starts;
}

}  // namespace

HostResidual::Ghosts::Ghosts(const DistributedMatrix& matrix) : comm_(matrix.comm) {
  const Array<std::int64_t>& columns = matrix.blocks.ghost_columns;
  const auto ranks = static_cast<std::size_t>(size_of(comm_));
  wanted_.counts.resize(ranks);
  asked_.counts.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    wanted_.counts[rank] =
        static_cast<int>(std::ranges::lower_bound(columns, matrix.row_starts[rank + 1]) -
                         std::ranges::lower_bound(columns, matrix.row_starts[rank]));
  MPI_Alltoall(wanted_.counts.data(), 1, MPI_INT, asked_.counts.data(), 1, MPI_INT, comm_);
  wanted_.starts = starts_of(wanted_.counts);
  asked_.starts = starts_of(asked_.counts);
  asked_rows_.resize(static_cast<std::size_t>(asked_.starts.back()) +
                     static_cast<std::size_t>(asked_.counts.back()));
  MPI_Alltoallv(columns.data(), wanted_.counts.data(), wanted_.starts.data(), MPI_INT64_T,
                asked_rows_.data(), asked_.counts.data(), asked_.starts.data(), MPI_INT64_T, comm_);
  for (std::int64_t& row : asked_rows_) row -= matrix.first_row();
  sent_.resize(asked_rows_.size());
  ghosts_.resize(columns.size());
}

std::span<const double> HostResidual::Ghosts::of(std::span<const double> x) {
  for (std::size_t k = 0; k < sent_.size(); ++k) sent_[k] = x[asked_rows_[k]];
  MPI_Alltoallv(sent_.data(), asked_.counts.data(), asked_.starts.data(), MPI_DOUBLE,
                ghosts_.data(), wanted_.counts.data(), wanted_.starts.data(), MPI_DOUBLE, comm_);
  return ghosts_;
}

Residual HostResidual::of(const Ranks& ranks, const DistributedMatrix& matrix,
                          std::span<const double> b, std::span<const double> x) {
  const RowSizes& sizes = row_sizes(matrix);
  if (!ranks.many()) return plain_residual(matrix, matrix.blocks.local.values, sizes, b, x, r_);
  if (!ghosts_) ghosts_.emplace(matrix);
  r_.resize(b.size());
  std::ranges::fill(r_, 0.0);
  add_plain_product(matrix.blocks.local, x, r_);
  add_plain_product(matrix.blocks.ghost, ghosts_->of(x), r_);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = b[i] - r_[i];
  return measured(sizes, b, r_, [&](std::span<const double> v) { return ranks.norm(v); });
}

}  // namespace trireme::api
