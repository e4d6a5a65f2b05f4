// SPDX-License-Identifier: BSD-3-Clause
// Sums of hashes of array elements and their positions: the inner loops of fingerprints.
#pragma once

#include <cstdint>
#include <span>

namespace trireme {

// The parts of a rank in the fingerprints of a matrix (fingerprint.hpp) that are as long as its
// nonzeros: sum_of_hashes() of its columns and of its values.
struct EntryHashes {
  std::uint64_t columns = 0;
  std::uint64_t values = 0;
};

// The sum of split_mix(first + k, elements[k]) modulo 2^64 over all k. All threads take part.
std::uint64_t sum_of_hashes(std::int64_t first, std::span<const std::int32_t> elements);

// The same of ~(elements[k] + offset).
std::uint64_t sum_of_complement_hashes(std::int64_t first, std::span<const std::int32_t> elements,
                                       std::int64_t offset);

// The same of the bits of elements[k], with those of `mask` flipped.
std::uint64_t sum_of_hashes(std::int64_t first, std::span<const double> elements,
                            std::uint64_t mask = 0);

}  // namespace trireme
