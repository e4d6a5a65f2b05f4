// SPDX-License-Identifier: BSD-3-Clause
// New numbers of rows, from the ranks to which the vertices of a graph go.
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "distributed/redistribution.hpp"
#include "parallel/collective.hpp"

namespace trireme {

Redistribution redistribution_of(MPI_Comm comm, std::vector<std::int64_t> row_starts,
                                 std::int64_t rows_per_vertex,
                                 std::span<const std::int32_t> owners) {
  const int ranks = size_of(comm);
  const int rank = rank_of(comm);
  const std::int64_t rows = row_starts[rank + 1] - row_starts[rank];
  // The owner of a last vertex that is not whole changes places with the last rank.
  int with_the_rest = -1;
  const bool has_the_rest = row_starts.back() % rows_per_vertex != 0 && rows > 0 &&
                            row_starts[rank + 1] == row_starts.back();
  if (has_the_rest) with_the_rest = owners.back();
  MPI_Allreduce(MPI_IN_PLACE, &with_the_rest, 1, MPI_INT, MPI_MAX, comm);
  const auto owner_of = [&](std::int64_t row) -> std::int32_t {
    const std::int32_t owner = owners[row / rows_per_vertex];
    if (with_the_rest < 0) return owner;
    if (owner == with_the_rest) return ranks - 1;
    return owner == ranks - 1 ? with_the_rest : owner;
  };
  std::vector<std::int64_t> count(ranks, 0), before(ranks, 0), all(ranks, 0), to(ranks + 1, 0);
  collectively(comm, [&] {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t owner = owner_of(row);
      if (owner < 0 || owner >= ranks)
        fail(ExitCode::internal, "a row was given to rank {} of {}", owner, ranks);
      ++count[owner];
    }
  });
  MPI_Exscan(count.data(), before.data(), ranks, MPI_INT64_T, MPI_SUM, comm);
  if (rank == 0) before.assign(ranks, 0);
  MPI_Allreduce(count.data(), all.data(), ranks, MPI_INT64_T, MPI_SUM, comm);
  std::partial_sum(all.begin(), all.end(), to.begin() + 1);
  Array<std::int32_t> new_rows;
  collectively(comm, [&] {
    for (int r = 0; r < ranks; ++r) before[r] += to[r];
    new_rows.resize(rows);
    for (std::int64_t row = 0; row < rows; ++row)
      new_rows[row] = static_cast<std::int32_t>(before[owner_of(row)]++);
  });
  return {comm, std::move(row_starts), std::move(to), std::move(new_rows)};
}

}  // namespace trireme
