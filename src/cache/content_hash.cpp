// SPDX-License-Identifier: BSD-3-Clause
// Hashes parts of fixed size, and then the hashes.
#include "cache/content_hash.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace trireme {

ContentHash& ContentHash::add_bytes(std::span<const std::byte> bytes) {
  constexpr std::size_t kPart = std::size_t{4} << 20;
  const std::size_t parts = (bytes.size() + kPart - 1) / kPart;
  const std::size_t first = words_.size() + 1;
  words_.push_back(bytes.size());
  words_.resize(first + 2 * parts);
#pragma omp parallel for schedule(static) if (parts > 1)
  for (std::size_t k = 0; k < parts; ++k) {
    const std::span<const std::byte> part =
        bytes.subspan(k * kPart, std::min(kPart, bytes.size() - k * kPart));
    const XXH128_hash_t hash = XXH3_128bits(part.data(), part.size());
    words_[first + 2 * k] = hash.low64;
    words_[first + 2 * k + 1] = hash.high64;
  }
  return *this;
}

std::string ContentHash::text() const {
  const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(words_[0]));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace trireme
