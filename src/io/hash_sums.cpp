// SPDX-License-Identifier: BSD-3-Clause
// Cuts arrays into the blocks of the hash, and weighs the sums of each block.
#include "io/hash_sums.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/split_mix.hpp"
#include "io/word_sums.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kBlock = WordWeights::kWords;
constexpr std::int64_t kChunk = 1 << 16;  // elements per step of a parallel loop

constexpr HashKey make_public_key() {
  std::array<std::uint64_t, HashKey::kNumbers> numbers{};  // the last one stays 0
  for (std::size_t k = 0; k < kBlock; ++k) numbers[k] = split_mix(k, 0x7472697265'6d65u);
  return HashKey(numbers);
}

// The hash of words [first, first + count) of a whole array, which lie in one block.
std::uint64_t hash_in_block(std::int64_t first, std::int64_t count, const void* words,
                            std::uint64_t seed, const HashKey& key) {
  const std::int64_t block = first / kBlock, at = first % kBlock;
  const WordSums sums = word_sums(words, key.weights, at, count);
  const std::uint64_t of_seed = mix_bits(seed + kSplitMixStep + key.of_blocks);
  const auto number = 2 * static_cast<std::uint64_t>(block);
  return sums.a * (split_mix(number, of_seed) | 1) + sums.b * (split_mix(number + 1, of_seed) | 1);
}

// The sum of hash(position, count, index) over the pieces [index, index + count) of `size` elements
// that lie in one block each. The first element has position `first`.
template <class Hash>
std::uint64_t over_blocks(std::int64_t first, std::int64_t size, std::int64_t words_per_element,
                          Hash&& hash) {
  const std::int64_t block = kBlock / words_per_element;
  const auto of_chunk = [&](std::int64_t at, std::int64_t end) {
    std::uint64_t sum = 0;
    while (at < end) {
      const std::int64_t position = first + at;
      const std::int64_t count = std::min(end - at, block - position % block);
      sum += hash(position, count, at);
      at += count;
    }
    return sum;
  };
  // A parallel region would take longer than the hash of a small piece.
  if (size <= kChunk || omp_in_parallel()) return of_chunk(0, size);
  const std::int64_t chunks = (size + kChunk - 1) / kChunk;
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    sum += of_chunk(chunk * kChunk, std::min(size, (chunk + 1) * kChunk));
  return sum;
}

template <class T>
std::uint64_t hash_of(std::int64_t first, std::span<const T> elements, std::uint64_t seed,
                      const HashKey& key) {
  constexpr std::int64_t words = sizeof(T) / sizeof(std::uint32_t);
  return over_blocks(first, std::ssize(elements), words, [&](auto position, auto count, auto at) {
    return hash_in_block(words * position, words * count, elements.data() + at, seed, key);
  });
}

}  // namespace

constinit const HashKey kPublicKey = make_public_key();

std::uint64_t sum_of_hashes(std::int64_t first, std::span<const std::int32_t> elements,
                            std::uint64_t seed, const HashKey& key) {
  return hash_of(first, elements, seed, key);
}

std::uint64_t sum_of_hashes(std::int64_t first, std::span<const std::int64_t> elements,
                            std::uint64_t seed, const HashKey& key) {
  return hash_of(first, elements, seed, key);
}

std::uint64_t sum_of_hashes(std::int64_t first, std::span<const double> elements,
                            std::uint64_t seed, const HashKey& key) {
  return hash_of(first, elements, seed, key);
}

std::uint64_t sum_of_length_hashes(std::int64_t first, std::span<const std::int32_t> row_ptr,
                                   std::uint64_t seed, const HashKey& key) {
  return over_blocks(first, std::ssize(row_ptr) - 1, 1, [&](auto position, auto count, auto at) {
    std::array<std::int32_t, kBlock> lengths;
    for (std::int64_t k = 0; k < count; ++k) lengths[k] = row_ptr[at + k + 1] - row_ptr[at + k];
    return hash_in_block(position, count, lengths.data(), seed, key);
  });
}

}  // namespace trireme
