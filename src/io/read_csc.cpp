// SPDX-License-Identifier: BSD-3-Clause
// Reads a matrix that is stored by columns: entries travel to the owners of their rows in rounds of
// bounded size.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "io/canonical_rows.hpp"
#include "io/read_checks.hpp"
#include "io/row_cuts.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

struct Triplet {
  std::int32_t row;
  std::int32_t column;
  double value;
};

// Sends each item to the rank r whose rows [starts[r], starts[r+1]) contain it. Collective.
template <class Item, class RowOf>
Array<Item> send_to_owners(MPI_Comm comm, const std::vector<std::int64_t>& starts,
                           const Array<Item>& items, RowOf row_of) {
  const int ranks = size_of(comm);
  auto owner = [&, last = std::ptrdiff_t{0}](const Item& item) mutable {
    const std::int64_t row = row_of(item);
    if (row < starts[last] || row >= starts[last + 1])  // consecutive items mostly have one owner
      last = std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1;
    return last;
  };
  std::vector<int> send(ranks, 0), send_at(ranks + 1, 0), receive(ranks), receive_at(ranks + 1, 0);
  for (const Item& item : items) ++send[owner(item)];
  std::partial_sum(send.begin(), send.end(), send_at.begin() + 1);
  Array<Item> sorted(items.size());
  std::vector<int> cursor(send_at.begin(), send_at.end() - 1);
  for (const Item& item : items) sorted[cursor[owner(item)]++] = item;

  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm);
  std::partial_sum(receive.begin(), receive.end(), receive_at.begin() + 1);
  Array<Item> mine(receive_at.back());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Item), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(sorted.data(), send.data(), send_at.data(), type, mine.data(), receive.data(),
                receive_at.data(), type, comm);
  MPI_Type_free(&type);
  return mine;
}

// This rank's share of the columns, which is read in rounds; all ranks have the same number of
// rounds.
class ColumnShare {
 public:
  ColumnShare(MPI_Comm comm, const StoredMatrix& stored) : comm_(comm), stored_(stored) {
    const std::vector<std::int64_t> starts = balanced_starts(comm, stored);
    first_column_ = starts[rank_of(comm)];
    const std::int64_t end = starts[rank_of(comm) + 1];
    collectively(comm, [&] {
      pointers_.reserve(end - first_column_ + 1);
      scan_pointers(stored, first_column_, end,
                    [&](std::int64_t, std::span<const std::int64_t> pointers) {
                      pointers_.insert(pointers_.end(), pointers.begin(), pointers.end());
                    });
    });
    // All ranks may send to one, which then receives about 16 MiB.
    piece_ = std::max<std::int64_t>(1 << 12, (std::int64_t{1} << 20) / size_of(comm));
    rounds_ = (pointers_.back() - pointers_.front() + piece_ - 1) / piece_;
    MPI_Allreduce(MPI_IN_PLACE, &rounds_, 1, MPI_INT64_T, MPI_MAX, comm);
  }

  std::int64_t rounds() const { return rounds_; }

  // The rows of the round's entries. Collective.
  Array<std::int32_t> rows(std::int64_t round) const {
    const auto [first, count] = range(round);
    Array<std::int32_t> rows(count);
    collectively(comm_, [&, first = first, count = count] {
      if (count == 0) return;
      stored_.indices.read(first, count, rows.data());
      check_indices(stored_, first, rows);
    });
    return rows;
  }

  // The round's entries. Collective.
  Array<Triplet> entries(std::int64_t round) const {
    const auto [first, count] = range(round);
    const Array<std::int32_t> rows = this->rows(round);
    Array<Triplet> entries(count);
    collectively(comm_, [&, first = first, count = count] {
      if (count == 0) return;
      Array<double> values(count);
      stored_.values.read(first, count, values.data());
      auto next = std::upper_bound(pointers_.begin(), pointers_.end(), first);
      for (std::int64_t i = 0; i < count; ++i) {
        while (*next <= first + i) ++next;
        const std::int64_t column = first_column_ + (next - pointers_.begin()) - 1;
        if (!std::isfinite(values[i]))
          fail(ExitCode::input, "{}[{}] = {} in row {}, column {}; values must be finite",
               stored_.values.name(), first + i, values[i], rows[i], column);
        entries[i] = {rows[i], static_cast<std::int32_t>(column), values[i]};
      }
    });
    return entries;
  }

 private:
  std::pair<std::int64_t, std::int64_t> range(std::int64_t round) const {
    const std::int64_t first = std::min(pointers_.front() + round * piece_, pointers_.back());
    return {first, std::min(piece_, pointers_.back() - first)};
  }

  MPI_Comm comm_;
  const StoredMatrix& stored_;
  std::int64_t first_column_ = 0;
  Array<std::int64_t> pointers_;
  std::int64_t piece_ = 0;
  std::int64_t rounds_ = 0;
};

// The lengths of the rows of an even share. The rank of the share counts the entries that all ranks
// read. Collective.
Array<std::int32_t> count_even_share(MPI_Comm comm, const std::vector<std::int64_t>& even,
                                     const ColumnShare& columns) {
  const int rank = rank_of(comm);
  Array<std::int32_t> lengths(even[rank + 1] - even[rank], 0);
  for (std::int64_t round = 0; round < columns.rounds(); ++round)
    for (const std::int32_t row : send_to_owners(comm, even, columns.rows(round), std::identity()))
      ++lengths[row - even[rank]];
  return lengths;
}

// Moves values that lie on the ranks by the cuts `from` to the cuts `to`. Collective.
Array<std::int32_t> redistribute(MPI_Comm comm, const Array<std::int32_t>& values,
                                 const std::vector<std::int64_t>& from,
                                 const std::vector<std::int64_t>& to) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const auto overlaps = [&](const std::vector<std::int64_t>& mine,
                            const std::vector<std::int64_t>& theirs) {
    std::pair<std::vector<int>, std::vector<int>> counts_and_starts;
    for (int r = 0; r < ranks; ++r) {
      const std::int64_t first = std::clamp(theirs[r], mine[rank], mine[rank + 1]);
      const std::int64_t last = std::clamp(theirs[r + 1], mine[rank], mine[rank + 1]);
      counts_and_starts.first.push_back(static_cast<int>(last - first));
      counts_and_starts.second.push_back(static_cast<int>(first - mine[rank]));
    }
    return counts_and_starts;
  };
  const auto [send, send_at] = overlaps(from, to);
  const auto [receive, receive_at] = overlaps(to, from);
  Array<std::int32_t> moved(to[rank + 1] - to[rank]);
  MPI_Alltoallv(values.data(), send.data(), send_at.data(), MPI_INT32_T, moved.data(),
                receive.data(), receive_at.data(), MPI_INT32_T, comm);
  return moved;
}

// Allocates rows of these lengths and sets row_ptr.
void allocate_rows(const StoredMatrix& stored, const Array<std::int32_t>& lengths,
                   CsrMatrix<double>& local) {
  const std::int64_t nnz = set_row_lengths(lengths, stored.most_of_block, stored.name, local);
  local.col_idx.resize(nnz);
  local.values.resize(nnz);
}

}  // namespace

MatrixOnRanks read_csc(MPI_Comm comm, const StoredMatrix& stored) {
  const int rank = rank_of(comm);
  const ColumnShare columns(comm, stored);
  std::vector<std::int64_t> even(size_of(comm) + 1);
  for (std::size_t r = 0; r < even.size(); ++r)
    even[r] = even_share(stored.rows, size_of(comm), static_cast<int>(r));
  Array<std::int32_t> lengths = count_even_share(comm, even, columns);

  MatrixOnRanks matrix;
  matrix.row_starts = balanced_starts(comm, stored.rows, lengths, stored.rows_together);
  lengths = redistribute(comm, lengths, even, matrix.row_starts);
  RowSlab& slab = matrix.slab;
  slab.global_rows = stored.rows;
  slab.global_cols = stored.cols;
  slab.first_row = matrix.row_starts[rank];
  CsrMatrix<double>& local = slab.local;
  local.rows = matrix.row_starts[rank + 1] - slab.first_row;
  local.cols = stored.cols;
  collectively(comm, [&] { allocate_rows(stored, lengths, local); });
  Array<std::int32_t>& next = lengths;  // the entries of each row that have come
  std::ranges::fill(next, 0);
  for (std::int64_t round = 0; round < columns.rounds(); ++round) {
    for (const Triplet& entry : send_to_owners(comm, matrix.row_starts, columns.entries(round),
                                               [](const Triplet& e) { return e.row; })) {
      const std::int64_t row = entry.row - slab.first_row;
      const std::int64_t at = local.row_begin(row) + next[row]++;
      local.col_idx[at] = entry.column;
      local.values[at] = entry.value;
    }
  }
  finish_rows(comm, matrix);
  return matrix;
}

}  // namespace trireme
