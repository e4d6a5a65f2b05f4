// SPDX-License-Identifier: BSD-3-Clause
// Repeated rows by hashes that ranks exchange, and dense blocks by groups of rows.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "distributed/matrix_look.hpp"
#include "distributed/scaling/on_rank_zero.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_facts.hpp"
#include "sparse/row_groups.hpp"
#include "sparse/transversal.hpp"

namespace trireme {
namespace {

using HashBits = std::array<std::uint64_t, 2>;

// Of the values and their columns in each row that has a nonzero.
std::vector<HashBits> own_hashes(const DistributedMatrix& matrix) {
  const SplitRows& parts = matrix.blocks;
  const Array<RowKey> keys = row_keys(matrix.first_row(), matrix.local_rows());
  const Array<RowKey> ghost_keys = row_keys(parts.ghost_columns);
  std::vector<HashBits> hashes;
  for (const SplitRows::Rows& rows : parts.rows_by_blocks())
    for (std::int64_t row = 0; row < rows.local.rows; ++row) {
      const KeyedRows keyed{rows.local, rows.ghost, rows.first_row, keys, ghost_keys};
      const RowKey bits = row_hash(keyed, row).values;
      if (bits.u != 0 || bits.v != 0) hashes.push_back({bits.u, bits.v});
    }
  return hashes;
}

// Sends each hash to the rank that its bits name. Collective.
std::vector<HashBits> gathered_by_hash(MPI_Comm comm, std::vector<HashBits> hashes) {
  const int ranks = size_of(comm);
  if (ranks == 1) return hashes;
  const auto rank_for = [&](const HashBits& hash) {
    return static_cast<int>((hash[0] >> 32) % static_cast<std::uint64_t>(ranks));
  };
  std::ranges::sort(hashes, {}, rank_for);
  std::vector<int> sends(ranks, 0), receives(ranks, 0), send_offsets(ranks, 0),
      receive_offsets(ranks, 0);
  for (const HashBits& hash : hashes) ++sends[rank_for(hash)];
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, comm);
  for (int rank = 1; rank < ranks; ++rank) {
    send_offsets[rank] = send_offsets[rank - 1] + sends[rank - 1];
    receive_offsets[rank] = receive_offsets[rank - 1] + receives[rank - 1];
  }
  std::vector<HashBits> gathered;
  collectively(comm, [&] { gathered.resize(receive_offsets.back() + receives.back()); });
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Alltoallv(hashes.data(), sends.data(), send_offsets.data(), pair, gathered.data(),
                receives.data(), receive_offsets.data(), pair, comm);
  MPI_Type_free(&pair);
  return gathered;
}

std::int64_t repeated_rows_of(const DistributedMatrix& matrix) {
  std::vector<HashBits> hashes;
  collectively(matrix.comm, [&] { hashes = own_hashes(matrix); });
  hashes = gathered_by_hash(matrix.comm, std::move(hashes));
  std::ranges::sort(hashes);
  std::int64_t count = hashes.end() - std::unique(hashes.begin(), hashes.end());
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, matrix.comm);
  return count;
}

constexpr std::int32_t kMostRows = 32;  // of a block

// The size of the groups that have the most rows, and these rows.
std::pair<std::int64_t, std::int64_t> blocks_of(const DistributedMatrix& matrix) {
  std::array<std::int64_t, kMostRows + 1> rows_in{};
  collectively(matrix.comm, [&] {
    for (const SplitRows::Rows& rows : matrix.blocks.rows_by_blocks()) {
      const std::vector<std::int32_t> starts = row_groups(rows.local, rows.ghost, kMostRows);
      for (std::size_t group = 1; group < starts.size(); ++group) {
        const std::int32_t size = starts[group] - starts[group - 1];
        rows_in[size] += size;
      }
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, rows_in.data(), kMostRows + 1, MPI_INT64_T, MPI_SUM, matrix.comm);
  const auto most = std::ranges::max_element(rows_in);
  if (*most == 0) return {1, 0};
  return {most - rows_in.begin(), *most};
}

// None for a matrix that is too large for one rank.
std::optional<std::int64_t> structural_rank_of(const DistributedMatrix& matrix) {
  if (size_of(matrix.comm) == 1) {
    if (!matrix.blocks.local.cuts.empty()) return std::nullopt;
    return structural_rank(matrix.blocks.local.view()).rank;
  }
  if (!fits_on_rank_zero(matrix)) return std::nullopt;
  Redistribution moved = to_rank_zero(matrix);
  const CsrMatrix<double> whole = moved_matrix(moved, matrix);
  std::int64_t rank = 0;
  collectively(matrix.comm, [&] {
    if (rank_of(matrix.comm) == 0) rank = structural_rank(whole.view()).rank;
  });
  MPI_Bcast(&rank, 1, MPI_INT64_T, 0, matrix.comm);
  return rank;
}

// sizes[j] = the larger of itself and the largest magnitude of column j.
void take_largest_of_columns(const CsrMatrix<double>& a, std::span<double> sizes) {
  const std::int64_t entries = a.nnz();
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < entries; ++k) {
    const std::atomic_ref<double> size(sizes[a.col_idx[k]]);
    const double magnitude = std::abs(a.values[k]);
    double known = size.load(std::memory_order_relaxed);
    while (magnitude > known && !size.compare_exchange_weak(known, magnitude)) {
    }
  }
}

// Fills in what columns show. Collective.
void look_at_columns(const DistributedMatrix& matrix, CloserLook& look) {
  Array<double> sizes, packed, of_ghosts;
  collectively(matrix.comm, [&] {
    sizes.assign(matrix.local_rows(), 0.0);
    packed.assign(matrix.halo.send_rows.size(), 0.0);
    of_ghosts.assign(matrix.halo.ghosts, 0.0);
    take_largest_of_columns(matrix.blocks.local, sizes);
    take_largest_of_columns(matrix.blocks.ghost, of_ghosts);
  });
  if (size_of(matrix.comm) > 1) {
    HaloExchange exchange(matrix.comm, matrix.halo, packed, of_ghosts);
    exchange.begin_reverse();
    exchange.end_reverse();
  }
  for (std::size_t k = 0; k < packed.size(); ++k) {
    double& size = sizes[matrix.halo.send_rows[k]];
    size = std::max(size, packed[k]);
  }
  double extremes[] = {0, -std::numeric_limits<double>::max()};
  std::int64_t empty = 0;
  for (const double size : sizes) {
    empty += size > 0 ? 0 : 1;
    if (size > 0) extremes[1] = std::max(extremes[1], -size);
    extremes[0] = std::max(extremes[0], size);
  }
  MPI_Allreduce(MPI_IN_PLACE, &empty, 1, MPI_INT64_T, MPI_SUM, matrix.comm);
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, matrix.comm);
  look.empty_columns = empty;
  if (extremes[0] > 0) look.column_sizes = {-extremes[1], extremes[0]};
}

}  // namespace

CloserLook look_closer(const DistributedMatrix& matrix) {
  const auto [size, rows] = blocks_of(matrix);
  CloserLook look{.rows = matrix.global_rows(),
                  .repeated_rows = repeated_rows_of(matrix),
                  .block_size = size,
                  .rows_in_blocks = rows,
                  .structural_rank = structural_rank_of(matrix)};
  const MatrixLook& first = look_at(matrix);
  look.columns_as_rows = first.symmetric_values;
  look.empty_columns = first.empty_rows;
  look.column_sizes = first.row_sizes;
  if (!look.columns_as_rows) look_at_columns(matrix, look);
  return look;
}

}  // namespace trireme
