// SPDX-License-Identifier: BSD-3-Clause
// Fetches rows in two rounds of messages: the lengths of the rows, and then their entries.
#include "multigrid/ghost_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

using Neighbours = std::vector<HaloPlan::Neighbour>;

// Sends the part of `packed` of each neighbour, and receives the parts of `ghosts`.
template <class T>
void exchange(MPI_Comm comm, MPI_Datatype type, const Neighbours& sends, const Array<T>& packed,
              const Neighbours& receives, Array<T>& ghosts) {
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
Array<std::int32_t> offsets_of(const Array<std::int32_t>& lengths) {
  Array<std::int32_t> offsets(lengths.size() + 1);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    offsets[i] = static_cast<std::int32_t>(sum);
    sum += lengths[i];
  }
  if (sum > INT32_MAX)
    fail(ExitCode::resource, "the ghost rows of a prolongator have {} entries; use more ranks",
         sum);
  offsets.back() = static_cast<std::int32_t>(sum);
  return offsets;
}

// The messages of entries that belong to messages of rows.
Neighbours of_entries(const Neighbours& neighbours, const Array<std::int32_t>& offsets) {
  Neighbours result;
  for (const auto& n : neighbours) {
    const std::int32_t first = offsets[n.offset];
    result.push_back({n.rank, first, offsets[n.offset + n.count] - first});
  }
  return result;
}

}  // namespace

GhostRows fetch_ghost_rows(MPI_Comm comm, const HaloPlan& halo, const CsrView<double>& p,
                           std::int64_t first_column) {
  const std::size_t count = halo.send_rows.size();
  Array<std::int32_t> packed_lengths(count), lengths(halo.ghosts);
  for (std::size_t k = 0; k < count; ++k) {
    const std::int32_t row = halo.send_rows[k];
    packed_lengths[k] = p.row_ptr[row + 1] - p.row_ptr[row];
  }
  exchange(comm, MPI_INT32_T, halo.sends, packed_lengths, halo.receives, lengths);

  GhostRows ghosts;
  Array<std::int32_t> offsets, packed_columns;
  Array<double> packed_values;
  collectively(comm, [&] {
    offsets = offsets_of(packed_lengths);
    ghosts.rows.row_ptr = offsets_of(lengths);
    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t row = halo.send_rows[k];
      for (std::int32_t j = p.row_ptr[row]; j < p.row_ptr[row + 1]; ++j) {
        packed_columns.push_back(static_cast<std::int32_t>(first_column + p.col_idx[j]));
        packed_values.push_back(p.values[j]);
      }
    }
    ghosts.rows.rows = halo.ghosts;
    ghosts.rows.col_idx.resize(ghosts.rows.row_ptr.back());
    ghosts.rows.values.resize(ghosts.rows.row_ptr.back());
  });
  const Neighbours sends = of_entries(halo.sends, offsets);
  const Neighbours receives = of_entries(halo.receives, ghosts.rows.row_ptr);
  exchange(comm, MPI_INT32_T, sends, packed_columns, receives, ghosts.rows.col_idx);
  exchange(comm, MPI_DOUBLE, sends, packed_values, receives, ghosts.rows.values);

  ghosts.columns = ghosts.rows.col_idx;
  std::sort(ghosts.columns.begin(), ghosts.columns.end());
  ghosts.columns.erase(std::unique(ghosts.columns.begin(), ghosts.columns.end()),
                       ghosts.columns.end());
  for (std::int32_t& column : ghosts.rows.col_idx)
    column = static_cast<std::int32_t>(
        std::lower_bound(ghosts.columns.begin(), ghosts.columns.end(), column) -
        ghosts.columns.begin());
  ghosts.rows.cols = static_cast<std::int64_t>(ghosts.columns.size());
  return ghosts;
}

}  // namespace trireme::multigrid
