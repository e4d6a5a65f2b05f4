// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/joined_rows.hpp"

#include <limits>

#include "base/error.hpp"

namespace trireme {

CsrMatrix<double> joined_rows(const DistributedMatrix& matrix) {
  const SplitRows& blocks = matrix.blocks;
  blocks.local.require_one_block();
  if (matrix.global_rows() > std::numeric_limits<std::int32_t>::max())
    fail(ExitCode::resource, "{} columns are more than 32 bits number", matrix.global_rows());
  const auto first = static_cast<std::int32_t>(matrix.first_row());
  const bool has_ghosts = blocks.ghost.nnz() > 0;
  CsrMatrix<double> joined;
  joined.rows = matrix.local_rows();
  joined.cols = matrix.global_rows();
  joined.row_ptr = blocks.local.row_ptr;
  if (has_ghosts) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i <= joined.rows; ++i) joined.row_ptr[i] += blocks.ghost.row_ptr[i];
  }
  joined.col_idx.resize(blocks.nnz());
  joined.values.resize(blocks.nnz());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < joined.rows; ++i) {
    std::int32_t local = blocks.local.row_ptr[i];
    std::int32_t ghost = has_ghosts ? blocks.ghost.row_ptr[i] : 0;
    for (std::int32_t k = joined.row_ptr[i]; k < joined.row_ptr[i + 1]; ++k) {
      if (!blocks.is_ghost.empty() && blocks.is_ghost[k]) {
        joined.col_idx[k] =
            static_cast<std::int32_t>(blocks.ghost_columns[blocks.ghost.col_idx[ghost]]);
        joined.values[k] = blocks.ghost.values[ghost++];
      } else {
        joined.col_idx[k] = first + blocks.local.col_idx[local];
        joined.values[k] = blocks.local.values[local++];
      }
    }
  }
  return joined;
}

}  // namespace trireme
