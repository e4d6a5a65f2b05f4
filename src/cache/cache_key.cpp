// SPDX-License-Identifier: BSD-3-Clause
// The canonical text of a key and its hash.
#include "cache/cache_key.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <iterator>

namespace trireme {

CacheKey& CacheKey::add(std::string_view name, std::string_view value) {
  text_.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\')
      fmt::format_to(std::back_inserter(text_), "\\x{:02x}", byte);
    else
      text_ += c;
  }
  text_ += '\n';
  return *this;
}

std::string CacheKey::name() const {
  const XXH128_hash_t hash = XXH3_128bits(text_.data(), text_.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace trireme
