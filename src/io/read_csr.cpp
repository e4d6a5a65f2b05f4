// SPDX-License-Identifier: BSD-3-Clause
// Reads this rank's rows of a matrix that is stored by rows.
#include "io/canonical_rows.hpp"
#include "io/read_checks.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

void read_rows(const StoredMatrix& stored, std::int64_t first_row, CsrMatrix<double>& local) {
  local.row_ptr.resize(local.rows + 1);
  std::int64_t first_entry = 0;
  std::int64_t last_entry = 0;
  scan_pointers(stored, first_row, first_row + local.rows,
                [&](std::int64_t first, std::span<const std::int64_t> pointers) {
                  if (first == first_row) first_entry = pointers[0];
                  last_entry = pointers.back();
                  check_local_nnz(stored, last_entry - first_entry);
                  for (std::size_t i = 0; i < pointers.size(); ++i)
                    local.row_ptr[first - first_row + i] =
                        static_cast<std::int32_t>(pointers[i] - first_entry);
                });

  const std::int64_t nnz = last_entry - first_entry;
  local.col_idx.resize(nnz);
  stored.indices.read(first_entry, nnz, local.col_idx.data());
  check_indices(stored, first_entry, local.col_idx);

  local.values.resize(nnz);
  stored.values.read(first_entry, nnz, local.values.data());
  if (const auto bad = first_not_finite(local.values))
    fail(ExitCode::input, "{}[{}] = {} in row {}, column {}; values must be finite",
         stored.values.name(), first_entry + *bad, local.values[*bad],
         first_row + row_of_entry(local.row_ptr, *bad), local.col_idx[*bad]);
}

}  // namespace

MatrixOnRanks read_csr(MPI_Comm comm, const StoredMatrix& stored) {
  MatrixOnRanks matrix;
  matrix.row_starts = balanced_starts(comm, stored);
  const int rank = rank_of(comm);
  RowSlab& slab = matrix.slab;
  slab.global_rows = stored.rows;
  slab.global_cols = stored.cols;
  slab.first_row = matrix.row_starts[rank];
  slab.local.rows = matrix.row_starts[rank + 1] - slab.first_row;
  slab.local.cols = stored.cols;
  collectively(comm, [&] { read_rows(stored, slab.first_row, slab.local); });
  finish_rows(comm, matrix);
  return matrix;
}

}  // namespace trireme
