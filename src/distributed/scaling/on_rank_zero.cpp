// SPDX-License-Identifier: BSD-3-Clause
// A redistribution that gives every row to one rank.
#include "distributed/scaling/on_rank_zero.hpp"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distributed/joined_rows.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"

namespace trireme {

Redistribution to_rank_zero(const DistributedMatrix& matrix) {
  std::vector<std::int64_t> to;
  Array<std::int32_t> rows_of_file;
  collectively(matrix.comm, [&] {
    if (matrix.global_rows() > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource, "one rank takes at most 2^31-1 rows, and the matrix has {}",
           matrix.global_rows());
    to.assign(matrix.row_starts.size(), matrix.global_rows());
    to.front() = 0;
    rows_of_file = matrix.callers_rows;
    if (!rows_of_file.empty()) return;
    rows_of_file.resize(matrix.local_rows());
    std::iota(rows_of_file.begin(), rows_of_file.end(),
              static_cast<std::int32_t>(matrix.first_row()));
  });
  return {matrix.comm, matrix.row_starts, std::move(to), std::move(rows_of_file)};
}

CsrMatrix<double> moved_matrix(Redistribution& to_rank_zero, const DistributedMatrix& matrix) {
  RowSlab slab{.global_rows = matrix.global_rows(),
               .global_cols = matrix.global_rows(),
               .global_nnz = matrix.global_nnz,
               .first_row = matrix.first_row()};
  collectively(matrix.comm, [&] { slab.local = joined_rows(matrix); });
  return to_rank_zero.matrix(std::move(slab)).local;
}

// The columns as they arrive, their order, and the matrix; or the matrix, the costs of its entries,
// and the numbers of rows and columns that a search for paths has.
double bytes_on_rank_zero(double rows, double nonzeros) { return 32 * nonzeros + 160 * rows; }

bool fits_on_rank_zero(const DistributedMatrix& matrix, std::int64_t most) {
  if (matrix.global_nnz > most || matrix.global_rows() > most) return false;
  constexpr double kOfASender = 24;  // per nonzero: joined and packed
  double mine = kOfASender * static_cast<double>(matrix.blocks.nnz());
  if (rank_of(matrix.comm) == 0)
    mine += bytes_on_rank_zero(static_cast<double>(matrix.global_rows()),
                               static_cast<double>(matrix.global_nnz));
  const auto bytes = static_cast<std::int64_t>(mine);
  const NodeMemory memory = node_memory(matrix.comm, bytes);
  return !any_rank(matrix.comm, bytes > memory.own || memory.needed > memory.shared);
}

}  // namespace trireme
