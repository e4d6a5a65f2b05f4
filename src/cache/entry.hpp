// SPDX-License-Identifier: BSD-3-Clause
// One entry of the cache as bytes.
//
//   offset  size  content, little-endian
//        0     8  magic
//        8     4  format version
//       12     4  bytes of the kind
//       16     8  XXH3 of the bytes 24 to the end of the key
//       24     8  XXH3 of the payload
//       32     8  bytes of the key
//       40     8  bytes of the payload
//       48     8  time of creation, seconds since 1970
//       56     8  seconds that making the payload took (FP64)
//       64        kind, key and payload, one after the other, up to the end of the file
//
// Together the two checksums cover every byte behind them. The magic, the version and the length of
// the kind are compared with what they must be, so that no byte of an entry can change unnoticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"

namespace trireme {

inline constexpr std::uint32_t kCacheFormatVersion = 2;
inline constexpr std::size_t kCacheHeaderBytes = 64;

// What stands before the payload.
struct CacheEntryHead {
  std::string kind;            // "decision", "order"
  std::string key;             // the canonical text
  std::int64_t created = 0;    // seconds since 1970
  double made_in_seconds = 0;  // what a hit saves
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
};

// The head as bytes, with the size and the checksum of this payload. The payload follows it in the
// file.
std::string encode_head(const CacheEntryHead& head, std::span<const std::byte> payload);

// Reads a head from the first bytes of a file of `file_bytes` bytes; `bytes` holds all of the file,
// or its first part up to the end of the key at least. Throws Error{input} whose text says what is
// wrong, as a clause without a subject: "is truncated".
CacheEntryHead decode_head(std::string_view bytes, std::uint64_t file_bytes);
// The bytes of the head that begins with these kCacheHeaderBytes bytes. Throws like decode_head().
std::size_t head_bytes(std::string_view header, std::uint64_t file_bytes);

std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace trireme
