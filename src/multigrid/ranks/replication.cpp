// SPDX-License-Identifier: BSD-3-Clause
// Gathers rows and vectors on all ranks.
#include "multigrid/ranks/replication.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// Gathers arrays of any length, in the order of the ranks.
template <class T>
Array<T> gather_all(MPI_Comm comm, MPI_Datatype type, const Array<T>& mine) {
  const int ranks = size_of(comm);
  std::vector<int> counts(ranks), starts(ranks);
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  Array<T> all(starts.back() + counts.back());
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), starts.data(), type, comm);
  return all;
}

// Entries of local rows with global columns that ascend, as `local` and `ghost` have them.
struct GlobalRows {
  Array<std::int32_t> lengths, columns;
  Array<double> values;

  explicit GlobalRows(const DistributedMatrix& matrix) {
    const CsrMatrix<double>& local = matrix.blocks.local;
    const CsrMatrix<double>& ghost = matrix.blocks.ghost;
    const std::int64_t first = matrix.first_row();
    for (std::int64_t i = 0; i < local.rows; ++i) {
      const std::int32_t ghosts_begin = ghost.nnz() ? ghost.row_ptr[i] : 0;
      const std::int32_t ghosts_end = ghost.nnz() ? ghost.row_ptr[i + 1] : 0;
      lengths.push_back(local.row_ptr[i + 1] - local.row_ptr[i] + ghosts_end - ghosts_begin);
      std::int32_t k = ghosts_begin;
      const auto add_ghost = [&] {
        columns.push_back(static_cast<std::int32_t>(matrix.blocks.ghost_columns[ghost.col_idx[k]]));
        values.push_back(ghost.values[k]);
      };
      for (; k < ghosts_end && matrix.blocks.ghost_columns[ghost.col_idx[k]] < first; ++k)
        add_ghost();
      for (std::int32_t j = local.row_ptr[i]; j < local.row_ptr[i + 1]; ++j) {
        columns.push_back(static_cast<std::int32_t>(first + local.col_idx[j]));
        values.push_back(local.values[j]);
      }
      for (; k < ghosts_end; ++k) add_ghost();
    }
  }
};

}  // namespace

Replication::Replication(MPI_Comm comm, std::span<const std::int64_t> row_starts)
    : comm_(comm), rows_(row_starts.back()) {
  const int rank = rank_of(comm);
  first_ = row_starts[rank];
  count_ = row_starts[rank + 1] - first_;
  for (std::size_t r = 0; r + 1 < row_starts.size(); ++r) {
    starts_.push_back(static_cast<int>(row_starts[r]));
    counts_.push_back(static_cast<int>(row_starts[r + 1] - row_starts[r]));
  }
}

void Replication::gather(std::span<double> whole) const {
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole.data(), counts_.data(), starts_.data(),
                 MPI_DOUBLE, comm_);
}

CsrMatrix<double> Replication::gather_rows(const DistributedMatrix& matrix) const {
  const GlobalRows mine(matrix);
  return gather_rows(mine.lengths, mine.columns, mine.values);
}

CsrMatrix<double> Replication::whole(const CsrMatrix<double>& rows) const {
  Array<std::int32_t> lengths(rows.row_ptr.begin() + 1, rows.row_ptr.end());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] -= rows.row_ptr[i];
  return gather_rows(lengths, rows.col_idx, rows.values);
}

CsrMatrix<double> Replication::gather_rows(const Array<std::int32_t>& own_lengths,
                                           const Array<std::int32_t>& own_columns,
                                           const Array<double>& own_values) const {
  const Array<std::int32_t> lengths = gather_all(comm_, MPI_INT32_T, own_lengths);
  CsrMatrix<double> all{.rows = rows_, .cols = rows_, .row_ptr{}, .col_idx{}, .values{}};
  all.row_ptr.resize(rows_ + 1);
  all.row_ptr[0] = 0;
  std::inclusive_scan(lengths.begin(), lengths.end(), all.row_ptr.begin() + 1);
  all.col_idx = gather_all(comm_, MPI_INT32_T, own_columns);
  all.values = gather_all(comm_, MPI_DOUBLE, own_values);
  return all;
}

std::shared_ptr<DistributedMatrix> Replication::whole(const DistributedMatrix& matrix) const {
  RowSlab slab{.global_rows = rows_,
               .global_cols = rows_,
               .global_nnz = 0,
               .first_row = 0,
               .local = gather_rows(matrix)};
  slab.global_nnz = slab.local.nnz();
  auto all = distribute(MPI_COMM_SELF, std::move(slab), {0, rows_});
  all->callers_rows = gather_all(comm_, MPI_INT32_T, matrix.callers_rows);
  return all;
}

void Replication::renew(const DistributedMatrix& matrix, DistributedMatrix& whole) const {
  whole.replace_values(gather_rows(matrix).values);
}

NearNullspace Replication::whole(const NearNullspace& modes) const {
  return {.values = gather_all(comm_, MPI_DOUBLE, modes.values), .width = modes.width};
}

}  // namespace trireme::multigrid
