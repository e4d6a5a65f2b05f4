// SPDX-License-Identifier: BSD-3-Clause
// Reads this rank's rows of a matrix that is stored by rows.
#include <cmath>
#include <type_traits>

#include "io/canonical_rows.hpp"
#include "io/read_and_find.hpp"
#include "io/read_checks.hpp"
#include "parallel/collective.hpp"
#include "sparse/usual_magnitude.hpp"

namespace trireme {
namespace {

// Columns that lie outside of [0, bound), where bound is at most 2^31-1 for 32-bit columns.
template <class Column>
void read_columns(const StoredMatrix& stored, std::int64_t first_entry, std::int64_t count,
                  Array<Column>& columns, std::uint64_t& hash, EntriesSink* sink) {
  using Unsigned = std::make_unsigned_t<Column>;
  columns.resize(count);
  const auto bound = static_cast<Unsigned>(stored.index_bound());
  if (const auto bad = read_and_find(
          stored.indices, first_entry, count, columns.data(),
          [bound](Column index) { return static_cast<Unsigned>(index) >= bound; }, hash,
          [sink](std::int64_t at, std::span<const Column> read) {
            if constexpr (std::is_same_v<Column, std::int32_t>)
              if (sink) sink->columns(at, read);
          }))
    fail_out_of_range(stored, first_entry + *bad);
}

}  // namespace

ReadRows read_rows(const StoredMatrix& stored, RowSlab& slab, EntriesSink* sink) {
  CsrMatrix<double>& local = slab.local;
  const std::int64_t first_row = slab.first_row;
  require_local_rows(stored.name, local.rows);
  const auto [first_entry, nnz] = read_row_ptr(stored, first_row, local);

  if (slab.is_wide()) sink = nullptr;  // it takes columns of 32 bits
  if (sink) sink->begin(nnz);
  EntryHashes hashes;
  if (slab.is_wide())
    read_columns(stored, first_entry, nnz, slab.wide_columns, hashes.columns, sink);
  else
    read_columns(stored, first_entry, nnz, local.col_idx, hashes.columns, sink);

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
         first_row + row_of_entry(local, *bad), slab.column(*bad));
  return {.hashes = hashes, .none_above_usual = !large};
}

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
  ReadRows read;
  collectively(comm, [&] { read = read_rows(stored, slab, sink); });
  matrix.in_stored_order = finish_rows(comm, matrix);
  if (!matrix.in_stored_order) return matrix;
  matrix.hashes = read.hashes;
  matrix.none_above_usual = read.none_above_usual;
  return matrix;
}

}  // namespace trireme
