// SPDX-License-Identifier: BSD-3-Clause
// Counts rows, nonzeros and ghosts of each part.
#include "app/system/graph_shares.hpp"

#include <mpi.h>

#include <cstdint>

#include "base/error.hpp"
#include "distributed/row_graph.hpp"
#include "petsc/graph_partition.hpp"
#include "petsc/session.hpp"

namespace trireme {

std::vector<RankShare> graph_shares(const RowSlab& whole, int ranks) {
  const CsrView<double> a = whole.local.view();
  if (a.rows != a.cols)
    fail(ExitCode::usage,
         "only the rows of a square matrix can be partitioned as a graph; this "
         "one is {} x {}",
         a.rows, a.cols);
  const PetscSession session;
  const std::vector<std::int64_t> starts{0, a.rows};
  Array<std::int32_t> owners(a.rows, 0);
  if (ranks > 1)
    owners = partition_graph(MPI_COMM_SELF, row_graph(MPI_COMM_SELF, whole, starts), ranks);

  std::vector<RankShare> shares(ranks);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    RankShare& share = shares[owners[row]];
    ++share.rows;
    share.nnz += a.row_ptr[row + 1] - a.row_ptr[row];
  }
  for (int rank = 1; rank < ranks; ++rank)
    shares[rank].first_row = shares[rank - 1].first_row + shares[rank - 1].rows;
  // The rows by their owners, so that one mark per column tells what an owner has counted already.
  std::vector<std::int64_t> next(ranks);
  for (int rank = 0; rank < ranks; ++rank) next[rank] = shares[rank].first_row;
  Array<std::int32_t> by_owner(a.rows), seen(a.rows, -1);
  for (std::int64_t row = 0; row < a.rows; ++row)
    by_owner[next[owners[row]]++] = static_cast<std::int32_t>(row);
  for (const std::int32_t row : by_owner) {
    const std::int32_t owner = owners[row];
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const std::int32_t column = a.col_idx[k];
      if (owners[column] == owner || seen[column] == owner) continue;
      seen[column] = owner;
      ++shares[owner].ghosts;
    }
  }
  return shares;
}

}  // namespace trireme
