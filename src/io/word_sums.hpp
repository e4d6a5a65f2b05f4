// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of hashes of arrays.
#pragma once

#include <array>
#include <cstdint>

namespace trireme {

// Two weights for each of the words of a block. The weights are also there moved by one word, so
// that a vector of them has the weights of the words with odd numbers in its lanes with even
// numbers, of which a SIMD multiplication takes its factors.
struct WordWeights {
  static constexpr std::int64_t kWords = 1024;
  alignas(64) std::array<std::uint32_t, kWords> a{};
  std::array<std::uint32_t, kWords> b{};
  std::array<std::uint32_t, kWords> next_a{};  // a[k + 1], and 0 at the end
  std::array<std::uint32_t, kWords> next_b{};
};

// Two sums modulo 2^64: of word k times a[first + k], and of word k times b[first + k].
struct WordSums {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

// Of `count` words of 32 bits at `words`, which may be numbers of any type. first + count is at
// most WordWeights::kWords. By SIMD instructions.
WordSums word_sums(const void* words, const WordWeights& weights, std::int64_t first,
                   std::int64_t count);

}  // namespace trireme
