// SPDX-License-Identifier: BSD-3-Clause
// Files of the cache folder: their names, and reading one without following links or waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/array.hpp"
#include "cache/entry.hpp"

namespace trireme {

// The file name of an entry, from CacheKey::name().
std::string entry_file_name(std::string_view key_name);
bool is_entry_file(const std::filesystem::path& path);
// True for the temporary file that StagedFile writes before it has the name of an entry.
bool is_temporary_entry_file(const std::filesystem::path& path);

// An open regular file. A symbolic link is not followed, and a pipe does not block. Files that
// another user than this one and root owns or may write are refused: what they hold is not trusted.
class EntryFile {
 public:
  // Empty where no file has this name. Throws Error{input} whose text is a clause without a subject
  // ("is a symbolic link"), as do the other functions.
  static std::optional<EntryFile> open(const std::filesystem::path& path);
  ~EntryFile();
  EntryFile(EntryFile&& other) noexcept;
  EntryFile& operator=(EntryFile&&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  CacheEntryHead read_head();
  // Call it after read_head(). Compares the checksum.
  Array<std::byte> read_payload(const CacheEntryHead& head);
  // The first bytes of the payload, at most `count`, which no checksum covers. Likewise.
  Array<std::byte> read_start(const CacheEntryHead& head, std::size_t count);
  // Sets the time of the last use to now.
  void touch();

 private:
  EntryFile(int descriptor, std::uint64_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  void read(std::span<std::byte> into, std::uint64_t offset);

  int descriptor_;
  std::uint64_t bytes_;
  std::uint64_t payload_at_ = 0;
};

}  // namespace trireme
