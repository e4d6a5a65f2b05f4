// SPDX-License-Identifier: BSD-3-Clause
// Fixed offsets, two checksums.
#include "cache/entry.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace trireme {
namespace {

static_assert(std::endian::native == std::endian::little);

// Like the signature of PNG: a byte that is no text, and a line end that a transfer as text
// damages.
constexpr std::string_view kMagic("\x89TRICA\r\n", 8);
constexpr std::size_t kVersionAt = 8, kKindBytesAt = 12, kHeadChecksumAt = 16,
                      kPayloadChecksumAt = 24, kKeyBytesAt = 32, kPayloadBytesAt = 40,
                      kCreatedAt = 48, kMadeInAt = 56;

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}
template <class T>
T get(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The kind has a checksum that depends on its length, so that bytes cannot move between the kind
// and the key.
std::uint64_t head_checksum(std::string_view head) {
  return XXH3_64bits_withSeed(head.data() + kPayloadChecksumAt, head.size() - kPayloadChecksumAt,
                              get<std::uint32_t>(head, kKindBytesAt));
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string encode_head(const CacheEntryHead& head, std::span<const std::byte> payload) {
  std::string bytes(kCacheHeaderBytes, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  put(bytes, kVersionAt, kCacheFormatVersion);
  put(bytes, kKindBytesAt, static_cast<std::uint32_t>(head.kind.size()));
  put(bytes, kPayloadChecksumAt, checksum(payload));
  put(bytes, kKeyBytesAt, static_cast<std::uint64_t>(head.key.size()));
  put(bytes, kPayloadBytesAt, static_cast<std::uint64_t>(payload.size()));
  put(bytes, kCreatedAt, head.created);
  put(bytes, kMadeInAt, head.made_in_seconds);
  bytes += head.kind + head.key;
  put(bytes, kHeadChecksumAt, head_checksum(bytes));
  return bytes;
}

std::size_t head_bytes(std::string_view header, std::uint64_t file_bytes) {
  if (header.size() < kCacheHeaderBytes) fail(ExitCode::input, "is truncated");
  if (!header.starts_with(kMagic)) fail(ExitCode::input, "is not a file of Trireme's cache");
  const auto version = get<std::uint32_t>(header, kVersionAt);
  if (version != kCacheFormatVersion)
    fail(ExitCode::input, "has the format version {}, and this program has {}", version,
         kCacheFormatVersion);
  std::uint64_t rest = file_bytes - kCacheHeaderBytes;
  for (const std::uint64_t part :
       {std::uint64_t{get<std::uint32_t>(header, kKindBytesAt)},
        get<std::uint64_t>(header, kKeyBytesAt), get<std::uint64_t>(header, kPayloadBytesAt)}) {
    if (part > rest) fail(ExitCode::input, "is truncated, or its header is damaged");
    rest -= part;
  }
  if (rest != 0) fail(ExitCode::input, "is longer than its header says");
  return kCacheHeaderBytes + get<std::uint32_t>(header, kKindBytesAt) +
         static_cast<std::size_t>(get<std::uint64_t>(header, kKeyBytesAt));
}

CacheEntryHead decode_head(std::string_view bytes, std::uint64_t file_bytes) {
  const std::size_t end = head_bytes(bytes, file_bytes);
  if (bytes.size() < end) fail(ExitCode::input, "is truncated");
  if (head_checksum(bytes.substr(0, end)) != get<std::uint64_t>(bytes, kHeadChecksumAt))
    fail(ExitCode::input, "has a wrong checksum");
  const std::size_t kind_bytes = get<std::uint32_t>(bytes, kKindBytesAt);
  CacheEntryHead head;
  head.kind = bytes.substr(kCacheHeaderBytes, kind_bytes);
  head.key = bytes.substr(kCacheHeaderBytes + kind_bytes, end - kCacheHeaderBytes - kind_bytes);
  head.created = get<std::int64_t>(bytes, kCreatedAt);
  head.made_in_seconds = get<double>(bytes, kMadeInAt);
  head.payload_bytes = get<std::uint64_t>(bytes, kPayloadBytesAt);
  head.payload_checksum = get<std::uint64_t>(bytes, kPayloadChecksumAt);
  return head;
}

}  // namespace trireme
