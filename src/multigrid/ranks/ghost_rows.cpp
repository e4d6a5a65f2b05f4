// SPDX-License-Identifier: BSD-3-Clause
// Fetches rows in three rounds of messages: the lengths of the rows, their columns, and their
// values.
#include "multigrid/ranks/ghost_rows.hpp"

#include "base/error.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

using NeighbourRanks = std::vector<HaloPlan::Neighbour>;

// Sends the part of `packed` of each neighbour, and receives the parts of `ghosts`.
template <class T>
void exchange(MPI_Comm comm, MPI_Datatype type, const NeighbourRanks& sends, const Array<T>& packed,
              const NeighbourRanks& receives, Array<T>& ghosts) {
  std::vector<MPI_Request> requests;
  for (const auto& from : receives)
    MPI_Irecv(ghosts.data() + from.offset, from.count, type, from.rank, 0, comm,
              &requests.emplace_back());
  for (const auto& to : sends)
    MPI_Isend(packed.data() + to.offset, to.count, type, to.rank, 0, comm,
              &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// Turns lengths into offsets, of which there is one more.
Array<std::int32_t> offsets_of(Array<std::int32_t> lengths) {
  lengths.push_back(0);
  const std::int64_t sum = HostPlace::sum_exclusively(lengths);
  if (sum > INT32_MAX)
    fail(ExitCode::resource,
         "the rows of other ranks that a rank needs have {} entries; use more ranks", sum);
  return lengths;
}

// The messages of entries that belong to messages of rows.
NeighbourRanks of_entries(const NeighbourRanks& neighbours, const Array<std::int32_t>& offsets) {
  NeighbourRanks result;
  for (const auto& n : neighbours) {
    const std::int32_t first = offsets[n.offset];
    result.push_back({n.rank, first, offsets[n.offset + n.count] - first});
  }
  return result;
}

}  // namespace

// What of(j) returns for the entries j of the rows that go to other ranks, in their order.
template <class T, class Of>
Array<T> GhostRows::packed(const CsrView<double>& p, const Of& of) const {
  Array<T> all(offsets_.back());
  HostPlace::for_each(std::ssize(send_rows_), [&](std::int64_t k) {
    const std::int32_t row = send_rows_[k];
    std::int32_t to = offsets_[k];
    for (std::int32_t j = p.row_ptr[row]; j < p.row_ptr[row + 1]; ++j) all[to++] = of(j);
  });
  return all;
}

GhostRows::GhostRows(MPI_Comm comm, const HaloPlan& halo, const CsrView<double>& p,
                     std::span<const std::int32_t> global_columns)
    : comm_(comm), send_rows_(halo.send_rows) {
  Array<std::int32_t> packed_lengths(send_rows_.size()), lengths(halo.ghosts);
  HostPlace::for_each(std::ssize(send_rows_), [&](std::int64_t k) {
    const std::int32_t row = send_rows_[k];
    packed_lengths[k] = p.row_ptr[row + 1] - p.row_ptr[row];
  });
  exchange(comm, MPI_INT32_T, halo.sends, packed_lengths, halo.receives, lengths);

  Array<std::int32_t> packed_columns;
  collectively(comm, [&] {
    offsets_ = offsets_of(packed_lengths);
    rows_.row_ptr = offsets_of(lengths);
    sends_ = of_entries(halo.sends, offsets_);
    receives_ = of_entries(halo.receives, rows_.row_ptr);
    packed_columns =
        packed<std::int32_t>(p, [&](std::int32_t j) { return global_columns[p.col_idx[j]]; });
    rows_.rows = halo.ghosts;
    rows_.col_idx.resize(rows_.row_ptr.back());
  });
  exchange(comm, MPI_INT32_T, sends_, packed_columns, receives_, rows_.col_idx);

  collectively(comm, [&] {
    columns_ = others_among(rows_.col_idx, 0, 0);
    const LocalNumbers place(0, 0, columns_);
    HostPlace::for_each(std::ssize(rows_.col_idx),
                        [&](std::int64_t k) { rows_.col_idx[k] = place(rows_.col_idx[k]); });
    rows_.cols = std::ssize(columns_);
  });
  renew(p);
}

void GhostRows::renew(const CsrView<double>& p) {
  Array<double> values;
  collectively(comm_, [&] {
    values = packed<double>(p, [&](std::int32_t j) { return p.values[j]; });
    rows_.values.resize(rows_.col_idx.size());
  });
  exchange(comm_, MPI_DOUBLE, sends_, values, receives_, rows_.values);
}

std::int64_t GhostRows::bytes() const {
  return static_cast<std::int64_t>(offsets_.size() + rows_.row_ptr.size() + rows_.col_idx.size() +
                                   columns_.size()) *
             4 +
         rows_.nnz() * 8;
}

}  // namespace trireme::multigrid
