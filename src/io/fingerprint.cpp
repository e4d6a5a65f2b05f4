// SPDX-License-Identifier: BSD-3-Clause
// Adds up the hashes of columns, row lengths, values and entries of vectors.
#include "io/fingerprint.hpp"

#include <array>
#include <utility>

#include "base/split_mix.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme {
namespace {

constexpr std::uint64_t kSeedOfLengths = 1;  // that of columns is 0

// The position of this rank's first nonzero among those of all ranks. Collective.
std::int64_t first_nonzero(MPI_Comm comm, const RowSlab& rows) {
  std::int64_t nnz = rows.local.nnz(), before = 0;
  MPI_Exscan(&nnz, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  return before;  // MPI_Exscan leaves it alone on rank 0
}

std::uint64_t hash_of_columns(std::int64_t first, const RowSlab& rows, const HashKey& key) {
  if (rows.is_wide())
    return sum_of_hashes(first, std::span<const std::int64_t>(rows.wide_columns), 0, key);
  return sum_of_hashes(first, std::span<const std::int32_t>(rows.local.col_idx), 0, key);
}

std::uint64_t hash_of_pattern(MPI_Comm comm, const RowSlab& rows, std::uint64_t of_columns,
                              const HashKey& key) {
  std::uint64_t part = of_columns;
  for (const RowBlock<double>& block : rows.local.blocks())
    part += sum_of_length_hashes(rows.first_row + block.first_row, block.csr.row_ptr,
                                 kSeedOfLengths, key);
  return mix_bits(sum_of_fingerprints(comm, part)) +
         split_mix(static_cast<std::uint64_t>(rows.global_rows),
                   static_cast<std::uint64_t>(rows.global_cols));
}

}  // namespace

std::uint64_t sum_of_fingerprints(MPI_Comm comm, std::uint64_t part) {
  MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_UINT64_T, MPI_SUM, comm);
  return part;
}

std::uint64_t pattern_fingerprint(MPI_Comm comm, const RowSlab& rows,
                                  const std::optional<EntryHashes>& known) {
  return hash_of_pattern(
      comm, rows,
      known ? known->columns : hash_of_columns(first_nonzero(comm, rows), rows, kPublicKey),
      kPublicKey);
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

LastPattern::LastPattern(MPI_Comm comm) : comm_(comm) {
  std::array<std::uint64_t, HashKey::kNumbers> numbers;
  fill_with_secret_numbers(comm, numbers);
  key_ = std::make_shared<HashKey>(numbers);
}

bool LastPattern::take(const RowSlab& rows) {
  const std::uint64_t hash =
      hash_of_pattern(comm_, rows, hash_of_columns(first_nonzero(comm_, rows), rows, *key_), *key_);
  return std::exchange(last_, hash) == hash;
}

}  // namespace trireme
