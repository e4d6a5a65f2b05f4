// SPDX-License-Identifier: BSD-3-Clause
// Adds up the hashes of columns, row lengths, values and entries of vectors.
#include "io/fingerprint.hpp"

#include "base/split_mix.hpp"

namespace trireme {
namespace {

constexpr std::uint64_t kSeedOfLengths = 1;  // that of columns is 0

// The position of this rank's first nonzero among those of all ranks. Collective.
std::int64_t first_nonzero(MPI_Comm comm, const RowSlab& rows) {
  std::int64_t nnz = rows.local.nnz(), before = 0;
  MPI_Exscan(&nnz, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  return before;  // MPI_Exscan leaves it alone on rank 0
}

std::uint64_t hash_of_columns(std::int64_t first, const RowSlab& rows) {
  if (rows.is_wide()) return sum_of_hashes(first, std::span<const std::int64_t>(rows.wide_columns));
  return sum_of_hashes(first, std::span<const std::int32_t>(rows.local.col_idx));
}

}  // namespace

std::uint64_t sum_of_fingerprints(MPI_Comm comm, std::uint64_t part) {
  MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_UINT64_T, MPI_SUM, comm);
  return part;
}

std::uint64_t pattern_fingerprint(MPI_Comm comm, const RowSlab& rows,
                                  const std::optional<EntryHashes>& known) {
  const CsrMatrix<double>& local = rows.local;
  std::uint64_t part = known ? known->columns : hash_of_columns(first_nonzero(comm, rows), rows);
  for (const RowBlock<double>& block : local.blocks())
    part +=
        sum_of_length_hashes(rows.first_row + block.first_row, block.csr.row_ptr, kSeedOfLengths);
  return mix_bits(sum_of_fingerprints(comm, part)) +
         split_mix(static_cast<std::uint64_t>(rows.global_rows),
                   static_cast<std::uint64_t>(rows.global_cols));
}

std::uint64_t values_fingerprint(MPI_Comm comm, const RowSlab& rows,
                                 const std::optional<EntryHashes>& known) {
  if (known) return sum_of_fingerprints(comm, known->values);
  const std::span<const double> values(rows.local.values);
  return sum_of_fingerprints(comm, sum_of_hashes(first_nonzero(comm, rows), values));
}

std::uint64_t fingerprint(std::span<const double> vector, std::int64_t first_row,
                          std::int64_t column) {
  return sum_of_hashes(first_row, vector, static_cast<std::uint64_t>(column));
}

}  // namespace trireme
