// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which a matrix and vectors are recognised, on any number of ranks.
//
// Each column, each row length, each value and each entry of a vector is weighed by its position in
// the whole matrix (hash_sums.hpp). A fingerprint is a sum modulo 2^64, so that it does not depend
// on the distribution of the rows or on the number of threads, and needs one pass over arrays
// without a branch per row.
//
// Somebody who knows this program can make two systems of the same fingerprint. A fingerprint
// serves where a mistake costs time only, or is noticed. LastPattern serves where it would decide a
// result.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "io/hash_sums.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Of the shape, the row lengths, and the columns in their order. `known`, where it is given on all
// ranks, saves the pass over the nonzeros. Collective.
std::uint64_t pattern_fingerprint(MPI_Comm comm, const RowSlab& rows,
                                  const std::optional<EntryHashes>& known = {});
// Of the values in their order, without the pattern. Collective.
std::uint64_t values_fingerprint(MPI_Comm comm, const RowSlab& rows,
                                 const std::optional<EntryHashes>& known = {});

// The part of this rank's entries, which begin at row `first_row`, of vector number `column`. The
// sum of the parts of all ranks is the fingerprint of the vector. Not collective.
std::uint64_t fingerprint(std::span<const double> vector, std::int64_t first_row,
                          std::int64_t column = 0);

// The sum over the ranks modulo 2^64. Collective.
std::uint64_t sum_of_fingerprints(MPI_Comm comm, std::uint64_t part);

// The pattern that was seen last. It is recognised by a hash whose key is drawn anew for each
// object, so that no file can contain another pattern of the same hash.
class LastPattern {
 public:
  explicit LastPattern(MPI_Comm comm);  // collective, as is take()
  // Whether the pattern is the one of the last call, on any distribution of the rows.
  bool take(const RowSlab& rows);

 private:
  MPI_Comm comm_;
  std::shared_ptr<const HashKey> key_;
  std::optional<std::uint64_t> last_;
};

}  // namespace trireme
