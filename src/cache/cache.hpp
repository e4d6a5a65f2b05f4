// SPDX-License-Identifier: BSD-3-Clause
// A folder of entries that cost more to make than to read, for one process.
//
// Each entry is a file, which is named by the hash of its key and holds the key itself
// (cache/entry.hpp). It is complete under its name, or absent (base/staged_file.hpp). Nothing is
// locked: concurrent programs replace each other's entries as a whole, and the last one remains.
// See docs/decisions/19-cache-without-locks.md.
//
// No function throws for what is wrong with the folder or an entry: the entry counts as absent, and
// a note says what is wrong, at most once per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "cache/cache_key.hpp"
#include "cache/entry.hpp"

namespace trireme {

inline constexpr std::uint64_t kCacheMaxBytes = std::uint64_t{2} << 30;

struct CacheHit {
  CacheEntryHead head;
  Array<std::byte> payload;
};

// An entry as `problem cache list` shows it. The payload is not read.
struct CacheListing {
  std::filesystem::path path;
  std::uint64_t file_bytes = 0;
  std::int64_t last_used = 0;  // seconds since 1970
  CacheEntryHead head;         // empty where the fault is set
  std::string fault;           // what is wrong with the entry: "is truncated"
};

struct CacheCleared {
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
};

class Cache {
 public:
  // Creates nothing: the folder is made with the first entry, for its owner only (0700).
  explicit Cache(std::filesystem::path directory, std::uint64_t max_bytes = kCacheMaxBytes)
      : directory_(std::move(directory)), max_bytes_(max_bytes) {}

  const std::filesystem::path& directory() const { return directory_; }
  // Where the entry of the key lies, or would lie.
  std::filesystem::path path_of(const CacheKey& key) const;

  // The entry of this key, which is marked as used. Empty where there is none that is whole. A file
  // of that name that is not the entry is removed.
  std::optional<CacheHit> find(const CacheKey& key);

  // What stands before the payload of the entry of this key, which is not read. Empty where there
  // is no such entry. Notes and removes nothing.
  std::optional<CacheEntryHead> head_of(const CacheKey& key) const;

  // Keeps a payload under the key in place of an earlier one, and then removes the entries that
  // were not used for the longest time until all entries together have at most max_bytes. Returns
  // whether the entry was kept.
  bool keep(const CacheKey& key, std::span<const std::byte> payload, double made_in_seconds);

  // The entry of the key has a payload that its reader does not understand. Notes it and removes
  // the entry.
  void reject(const CacheKey& key, std::string_view fault);

  // The entry in a file, without its key and without a mark of use. Throws Error{input}, whose text
  // is a clause without a subject, for a file that is no whole entry.
  static CacheHit read(const std::filesystem::path& path);

  // The first bytes of the payload in a file, at most `count`, without a check of the payload.
  // Throws likewise.
  static Array<std::byte> read_start(const std::filesystem::path& path, std::size_t count);

  // All entries, the last used one first.
  std::vector<CacheListing> list() const;
  // Removes the entries, and what writers left that were killed over an hour ago. Other files stay.
  CacheCleared clear();

  // The notes since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  void note(const std::filesystem::path& path, const std::string& text);
  CacheCleared remove_abandoned_files();
  void enforce_bound();

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
  std::set<std::filesystem::path> noted_;
  std::vector<std::string> notes_;
};

// The default folder, $XDG_CACHE_HOME/trireme or $HOME/.cache/trireme. Empty where neither variable
// has an absolute path.
std::filesystem::path default_cache_directory();

}  // namespace trireme
