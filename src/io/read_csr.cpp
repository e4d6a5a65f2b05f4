// SPDX-License-Identifier: BSD-3-Clause
// Reads this rank's rows of a matrix that is stored by rows.
#include <cmath>

#include "io/canonical_rows.hpp"
#include "io/read_and_find.hpp"
#include "io/read_checks.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

struct Read {
  EntryHashes hashes;  // of the entries at their positions in the file
  bool none_above_usual = false;
};

Read read_rows(const StoredMatrix& stored, std::int64_t first_row, CsrMatrix<double>& local,
               EntriesSink* sink) {
  local.row_ptr.resize(local.rows + 1);
  const std::int64_t first_entry = read_row_ptr(stored, first_row, local.row_ptr);
  const std::int64_t nnz = local.row_ptr.back();

  if (sink) sink->begin(nnz);
  EntryHashes hashes;
  local.col_idx.resize(nnz);
  const auto bound = static_cast<std::uint32_t>(stored.index_bound());  // less than 2^31
  if (const auto bad = read_and_find(
          stored.indices, first_entry, nnz, local.col_idx.data(),
          [bound](std::int32_t index) { return static_cast<std::uint32_t>(index) >= bound; },
          hashes.columns,
          [sink](std::int64_t at, std::span<const std::int32_t> columns) {
            if (sink) sink->columns(at, columns);
          }))
    fail_out_of_range(stored, first_entry + *bad);

  local.values.resize(nnz);
  const auto large = read_and_find(
      stored.values, first_entry, nnz, local.values.data(),
      [](double value) { return !(std::abs(value) <= kUsualMagnitude); }, hashes.values,
      [sink](std::int64_t at, std::span<const double> values) {
        if (sink) sink->values(at, values);
      });
  const auto bad = large ? first_not_finite(local.values) : std::nullopt;
  if (bad)
    fail(ExitCode::input, "{}[{}] = {} in row {}, column {}; values must be finite",
         stored.values.name(), first_entry + *bad, local.values[*bad],
         first_row + row_of_entry(local.row_ptr, *bad), local.col_idx[*bad]);
  return {.hashes = hashes, .none_above_usual = !large};
}

}  // namespace

MatrixOnRanks read_csr(MPI_Comm comm, const StoredMatrix& stored, EntriesSink* sink) {
  MatrixOnRanks matrix;
  matrix.row_starts = balanced_starts(comm, stored);
  const int rank = rank_of(comm);
  RowSlab& slab = matrix.slab;
  slab.global_rows = stored.rows;
  slab.global_cols = stored.cols;
  slab.first_row = matrix.row_starts[rank];
  slab.local.rows = matrix.row_starts[rank + 1] - slab.first_row;
  slab.local.cols = stored.cols;
  Read read;
  collectively(comm, [&] { read = read_rows(stored, slab.first_row, slab.local, sink); });
  matrix.in_stored_order = finish_rows(comm, matrix);
  if (!matrix.in_stored_order) return matrix;
  matrix.hashes = read.hashes;
  matrix.none_above_usual = read.none_above_usual;
  return matrix;
}

}  // namespace trireme
