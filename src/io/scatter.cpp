// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends slices of its arrays, in pieces whose length an int holds.
#include "io/scatter.hpp"

#include <algorithm>
#include <utility>

#include "base/free_memory.hpp"
#include "io/require_memory.hpp"
#include "io/row_cuts.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kScatterPieceBytes = std::int64_t{1} << 28;
constexpr int kScatterTag = 0;

// Cuts this many bytes into pieces, and calls take(start, bytes) for each.
template <class Take>
void each_piece(std::int64_t bytes, Take take) {
  for (std::int64_t at = 0; at < bytes; at += kScatterPieceBytes)
    take(at, static_cast<int>(std::min(kScatterPieceBytes, bytes - at)));
}

// Copies [starts[r], starts[r + 1] + overlap) of rank 0's array to `mine` of each rank r, which has
// that size. Collective.
template <class T>
void scatter_array(MPI_Comm comm, const Array<T>& whole, const std::vector<std::int64_t>& starts,
                   std::int64_t overlap, Array<T>& mine) {
  const auto bytes_of = [&](int rank) {
    return (starts[rank + 1] - starts[rank] + overlap) * static_cast<std::int64_t>(sizeof(T));
  };
  if (rank_of(comm) == 0) {
    for (int to = 1; to < size_of(comm); ++to) {
      const auto* from = reinterpret_cast<const char*>(whole.data() + starts[to]);
      each_piece(bytes_of(to), [&](std::int64_t at, int bytes) {
        MPI_Send(from + at, bytes, MPI_BYTE, to, kScatterTag, comm);
      });
    }
    std::copy_n(whole.begin(), mine.size(), mine.begin());
  } else {
    auto* into = reinterpret_cast<char*>(mine.data());
    each_piece(bytes_of(rank_of(comm)), [&](std::int64_t at, int bytes) {
      MPI_Recv(into + at, bytes, MPI_BYTE, 0, kScatterTag, comm, MPI_STATUS_IGNORE);
    });
  }
}

// The cuts, for which rank 0 reports every row. Collective.
std::vector<std::int64_t> cut_rows(MPI_Comm comm, const CsrMatrix<double>& whole, std::int64_t rows,
                                   std::int64_t nnz, std::int64_t rows_together) {
  RowCuts cuts(rows, nnz, size_of(comm), rows_together);
  if (rank_of(comm) == 0)
    for (std::int64_t row = 0; row <= rows; ++row) cuts.boundary(row, whole.row_ptr[row]);
  return std::move(cuts).agree(comm);
}

}  // namespace

MatrixOnRanks scatter_matrix(MPI_Comm comm, const std::string& name, CsrMatrix<double>&& whole,
                             std::int64_t rows_together) {
  const int rank = rank_of(comm);
  std::int64_t extents[3] = {whole.rows, whole.cols, whole.nnz()};
  MPI_Bcast(extents, 3, MPI_INT64_T, 0, comm);
  MatrixOnRanks matrix;
  matrix.row_starts = cut_rows(comm, whole, extents[0], extents[2], rows_together);
  RowSlab& slab = matrix.slab;
  slab.global_rows = extents[0];
  slab.global_cols = extents[1];
  slab.global_nnz = extents[2];
  slab.first_row = matrix.row_starts[rank];
  if (size_of(comm) == 1) {
    slab.local = std::move(whole);
    return matrix;
  }

  require_memory(comm, name,
                 csr_bytes(static_cast<double>(extents[0]), static_cast<double>(extents[2])));
  std::vector<std::int64_t> entry_starts(matrix.row_starts.size());
  if (rank == 0)
    for (std::size_t r = 0; r < entry_starts.size(); ++r)
      entry_starts[r] = whole.row_ptr[matrix.row_starts[r]];
  MPI_Bcast(entry_starts.data(), static_cast<int>(entry_starts.size()), MPI_INT64_T, 0, comm);
  CsrMatrix<double>& local = slab.local;
  local.rows = matrix.row_starts[rank + 1] - slab.first_row;
  local.cols = slab.global_cols;
  const auto send = [&](auto& from, const std::vector<std::int64_t>& starts, std::int64_t overlap,
                        auto& into) {
    collectively(comm, [&] { into.resize(starts[rank + 1] - starts[rank] + overlap); });
    scatter_array(comm, from, starts, overlap, into);
    let_go(from);  // so that rank 0 holds one array twice, not all
  };
  send(whole.row_ptr, matrix.row_starts, 1, local.row_ptr);
  send(whole.col_idx, entry_starts, 0, local.col_idx);
  send(whole.values, entry_starts, 0, local.values);
  for (std::int32_t& pointer : local.row_ptr)
    pointer -= static_cast<std::int32_t>(entry_starts[rank]);
  return matrix;
}

Array<double> scatter_vector(MPI_Comm comm, const Array<double>& whole, const RowRange& rows) {
  std::vector<std::int64_t> starts(size_of(comm) + 1, 0);
  const std::int64_t end = rows.first + rows.count;
  MPI_Allgather(&end, 1, MPI_INT64_T, starts.data() + 1, 1, MPI_INT64_T, comm);
  Array<double> mine;
  collectively(comm, [&] { mine.resize(rows.count); });
  scatter_array(comm, whole, starts, 0, mine);
  return mine;
}

}  // namespace trireme
