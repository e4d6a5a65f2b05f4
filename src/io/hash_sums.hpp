// SPDX-License-Identifier: BSD-3-Clause
// Hashes of arrays that add up over the parts of the arrays: the inner loops of fingerprints.
//
// An array is a sequence of words of 32 bits, in blocks of 1,024 by their positions in the whole
// array. Within a block, two multilinear hashes (Carter and Wegman 1979; Lemire and Kaser, Computer
// Journal 2014, section 3) multiply word k by random numbers a[k] and b[k] of 32 bits and add the
// products modulo 2^64. The hash of the array is the sum, modulo 2^64, of both hashes of each block
// times odd random numbers of that block and of the seed. Two arrays that differ have the same hash
// with a probability of about 2^-62 where they differ in one block.
//
// That holds for arrays that were made without knowledge of the random numbers. Those of the public
// key are in this program, so that arrays of the same hash can be computed.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "io/word_sums.hpp"

namespace trireme {

// The random numbers of a hash.
class HashKey {
 public:
  static constexpr std::int64_t kNumbers = WordWeights::kWords + 1;

  constexpr explicit HashKey(const std::array<std::uint64_t, kNumbers>& random)
      : of_blocks(random.back()) {
    for (std::size_t k = 0; k < WordWeights::kWords; ++k) {
      weights.a[k] = static_cast<std::uint32_t>(random[k]);
      weights.b[k] = static_cast<std::uint32_t>(random[k] >> 32);
      if (k == 0) continue;
      weights.next_a[k - 1] = weights.a[k];
      weights.next_b[k - 1] = weights.b[k];
    }
  }

  WordWeights weights;
  std::uint64_t of_blocks;
};

// The same in every program and every run.
extern const HashKey kPublicKey;

// The parts of a rank in the fingerprints of a matrix (fingerprint.hpp) that are as long as its
// nonzeros: sum_of_hashes() of its columns and of its values.
struct EntryHashes {
  std::uint64_t columns = 0;
  std::uint64_t values = 0;
};

// The hash of the elements, of which the first one has position `first` in the whole array. The
// hashes of the parts of an array add up to that of the array modulo 2^64. All threads take part,
// except within a parallel region.
std::uint64_t sum_of_hashes(std::int64_t first, std::span<const std::int32_t> elements,
                            std::uint64_t seed = 0, const HashKey& key = kPublicKey);
std::uint64_t sum_of_hashes(std::int64_t first, std::span<const std::int64_t> elements,
                            std::uint64_t seed = 0, const HashKey& key = kPublicKey);
std::uint64_t sum_of_hashes(std::int64_t first, std::span<const double> elements,
                            std::uint64_t seed = 0, const HashKey& key = kPublicKey);

// The same of the lengths row_ptr[k + 1] - row_ptr[k], of which the first one has position `first`.
std::uint64_t sum_of_length_hashes(std::int64_t first, std::span<const std::int32_t> row_ptr,
                                   std::uint64_t seed, const HashKey& key = kPublicKey);

}  // namespace trireme
