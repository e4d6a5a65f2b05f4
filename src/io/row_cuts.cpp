// SPDX-License-Identifier: BSD-3-Clause
// Compares the work before each boundary with the next target.
#include "io/row_cuts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme {

RowCuts::RowCuts(std::int64_t rows, std::int64_t nnz, int parts, std::int64_t together)
    : rows_(rows), together_(together), total_(rows + nnz), parts_(parts), starts_(parts + 1, 0) {
  starts_.back() = rows;
  next_target();
}

void RowCuts::next_target() {
  ++part_;
  target_ = part_ < parts_ ? static_cast<std::int64_t>(static_cast<double>(total_) * part_ / parts_)
                           : std::numeric_limits<std::int64_t>::max();
}

void RowCuts::cut_at(std::int64_t row, std::int64_t work) {
  const bool ours = previous_ >= 0;  // else an earlier share has the cut
  for (; work >= target_; next_target())
    if (ours) starts_[part_] = target_ - previous_ < work - target_ ? row - 1 : row;
}

std::vector<std::int64_t> RowCuts::agree(MPI_Comm comm) && {
  MPI_Allreduce(MPI_IN_PLACE, starts_.data(), parts_ + 1, MPI_INT64_T, MPI_MAX, comm);
  for (int part = 1; part < parts_; ++part)
    starts_[part] = std::min(rows_, (starts_[part] + together_ / 2) / together_ * together_);
  return std::move(starts_);
}

std::vector<std::int64_t> balanced_starts(MPI_Comm comm, std::int64_t rows,
                                          std::span<const std::int32_t> lengths,
                                          std::int64_t together) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  if (ranks == 1) return {0, rows};
  std::int64_t mine = 0;
#pragma omp parallel for reduction(+ : mine)
  for (const std::int32_t length : lengths) mine += length;
  std::int64_t before = 0;
  std::int64_t nnz = 0;
  MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(&mine, &nnz, 1, MPI_INT64_T, MPI_SUM, comm);
  if (rank == 0) before = 0;

  RowCuts cuts(rows, nnz, ranks, together);
  std::int64_t row = even_share(rows, ranks, rank);
  cuts.boundary(row, before);
  for (const std::int32_t length : lengths) cuts.boundary(++row, before += length);
  return std::move(cuts).agree(comm);
}

}  // namespace trireme
