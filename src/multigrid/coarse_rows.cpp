// SPDX-License-Identifier: BSD-3-Clause
// Joins two blocks of rows.
#include "multigrid/coarse_rows.hpp"

namespace trireme::multigrid {

CsrMatrix<double> joined_rows(const CsrMatrix<double>& local, std::int64_t first,
                              const CsrMatrix<double>& ghost,
                              std::span<const std::int32_t> ghost_columns, std::int64_t cols) {
  CsrMatrix<double> all{.rows = local.rows, .cols = cols, .row_ptr{}, .col_idx{}, .values{}};
  all.row_ptr.resize(local.rows + 1);
  all.row_ptr[0] = 0;
  const bool ghosts = ghost.nnz() > 0;
  for (std::int64_t i = 0; i < local.rows; ++i)
    all.row_ptr[i + 1] = all.row_ptr[i] + local.row_ptr[i + 1] - local.row_ptr[i] +
                         (ghosts ? ghost.row_ptr[i + 1] - ghost.row_ptr[i] : 0);
  all.col_idx.resize(local.nnz() + ghost.nnz());
  all.values.resize(local.nnz() + ghost.nnz());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < local.rows; ++i) {
    std::int32_t to = all.row_ptr[i];
    const auto add = [&](std::int64_t column, double value) {
      all.col_idx[to] = static_cast<std::int32_t>(column);
      all.values[to++] = value;
    };
    std::int32_t k = ghosts ? ghost.row_ptr[i] : 0;
    const std::int32_t end = ghosts ? ghost.row_ptr[i + 1] : 0;
    for (; k < end && ghost_columns[ghost.col_idx[k]] < first; ++k)
      add(ghost_columns[ghost.col_idx[k]], ghost.values[k]);
    for (std::int32_t j = local.row_ptr[i]; j < local.row_ptr[i + 1]; ++j)
      add(first + local.col_idx[j], local.values[j]);
    for (; k < end; ++k) add(ghost_columns[ghost.col_idx[k]], ghost.values[k]);
  }
  return all;
}

}  // namespace trireme::multigrid
