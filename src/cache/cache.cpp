// SPDX-License-Identifier: BSD-3-Clause
// Files named by hashes; all errors become notes.
#include "cache/cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <system_error>

#include "base/error.hpp"
#include "base/staged_file.hpp"
#include "cache/entry_file.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// A writer needs seconds. What is older was left by one that was killed.
constexpr std::int64_t kAbandonedSeconds = 3600;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

// Also makes the folders above it. Where the folder exists already, its permissions stay.
void make_private_folder(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) return;
  if (directory.has_relative_path() && directory.has_parent_path())
    make_private_folder(directory.parent_path());
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    fail(ExitCode::usage, "{}: cannot be made ({})", directory.string(),
         std::generic_category().message(errno));
}

struct FileStatus {
  fs::path path;
  std::uint64_t bytes = 0;
  std::int64_t last_used_ns = 0;  // since 1970
};

// The files of the folder for whose paths `wanted` holds. A file that another program removes
// meanwhile is left out.
template <class Wanted>
std::vector<FileStatus> files_in(const fs::path& directory, Wanted&& wanted) {
  std::vector<FileStatus> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    struct stat status {};
    if (!wanted(at->path()) || lstat(at->path().c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) continue;
    files.push_back(
        {.path = at->path(),
         .bytes = static_cast<std::uint64_t>(status.st_size),
         .last_used_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec});
  }
  return files;
}

fs::path absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path();
}

}  // namespace

fs::path default_cache_directory() {
  if (const fs::path cache = absolute_path_in("XDG_CACHE_HOME"); !cache.empty())
    return cache / "trireme";
  const fs::path home = absolute_path_in("HOME");
  return home.empty() ? home : home / ".cache" / "trireme";
}

fs::path Cache::path_of(const CacheKey& key) const {
  return directory_ / entry_file_name(key.name());
}

std::optional<CacheHit> Cache::find(const CacheKey& key) {
  const fs::path path = path_of(key);
  try {
    std::optional<EntryFile> file = EntryFile::open(path);
    if (!file) return std::nullopt;
    if (file->bytes() > max_bytes_) fail(ExitCode::input, "is larger than the whole cache may be");
    CacheHit hit{.head = file->read_head(), .payload = {}};
    if (hit.head.kind != key.kind() || hit.head.key != key.text())
      fail(ExitCode::input, "belongs to another key");
    hit.payload = file->read_payload(hit.head);
    file->touch();
    return hit;
  } catch (const Error& error) {
    reject(key, error.what());
  } catch (const std::exception& error) {  // no memory for the payload
    note(path, fmt::format("{} is ignored: {}", path.string(), error.what()));
  }
  return std::nullopt;
}

std::optional<CacheEntryHead> Cache::head_of(const CacheKey& key) const {
  try {
    std::optional<EntryFile> file = EntryFile::open(path_of(key));
    if (!file) return std::nullopt;
    CacheEntryHead head = file->read_head();
    if (head.kind == key.kind() && head.key == key.text()) return head;
  } catch (const std::exception&) {  // find() says what is wrong
    return std::nullopt;
  }
  return std::nullopt;
}

CacheHit Cache::read(const fs::path& path) {
  std::optional<EntryFile> file = EntryFile::open(path);
  if (!file) fail(ExitCode::input, "is gone");
  CacheHit hit{.head = file->read_head(), .payload = {}};
  hit.payload = file->read_payload(hit.head);
  return hit;
}

Array<std::byte> Cache::read_start(const fs::path& path, std::size_t count) {
  std::optional<EntryFile> file = EntryFile::open(path);
  if (!file) fail(ExitCode::input, "is gone");
  return file->read_start(file->read_head(), count);
}

void Cache::reject(const CacheKey& key, std::string_view fault) {
  const fs::path path = path_of(key);
  std::error_code error;
  const bool removed =
      !fs::is_directory(fs::symlink_status(path, error)) && fs::remove(path, error);
  note(path, fmt::format("the cache entry {} {}; it is ignored{}", path.string(), fault,
                         removed ? " and removed" : ""));
}

bool Cache::keep(const CacheKey& key, std::span<const std::byte> payload, double made_in_seconds) {
  const fs::path path = path_of(key);
  try {
    const std::string head = encode_head({.kind = key.kind(),
                                          .key = key.text(),
                                          .created = static_cast<std::int64_t>(std::time(nullptr)),
                                          .made_in_seconds = made_in_seconds},
                                         payload);
    if (head.size() + payload.size() > max_bytes_) return false;
    make_private_folder(directory_);
    StagedFile file(path, StagedFile::Writers::owner);
    file.write({head, {reinterpret_cast<const char*>(payload.data()), payload.size()}});
    file.commit_unflushed();
    enforce_bound();
    return true;
  } catch (const std::exception& error) {
    if (!noted_.contains(path))
      note(directory_, fmt::format("nothing is kept in the cache: {}", error.what()));
  }
  return false;
}

CacheCleared Cache::remove_abandoned_files() {
  const std::int64_t now = std::time(nullptr);
  std::error_code ignored;
  CacheCleared removed;
  for (const FileStatus& file : files_in(directory_, is_temporary_entry_file)) {
    if (now - file.last_used_ns / kNanoseconds <= kAbandonedSeconds) continue;
    if (!fs::remove(file.path, ignored)) continue;
    ++removed.files;
    removed.bytes += file.bytes;
  }
  return removed;
}

void Cache::enforce_bound() {
  std::error_code ignored;
  remove_abandoned_files();
  std::vector<FileStatus> entries = files_in(directory_, is_entry_file);
  std::uint64_t total = 0;
  for (const FileStatus& entry : entries) total += entry.bytes;
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const FileStatus& a, const FileStatus& b) {
    return a.last_used_ns < b.last_used_ns;
  });
  for (const FileStatus& entry : entries) {
    if (total <= max_bytes_) return;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

std::vector<CacheListing> Cache::list() const {
  std::vector<CacheListing> listings;
  std::vector<FileStatus> files = files_in(directory_, is_entry_file);
  std::sort(files.begin(), files.end(), [](const FileStatus& a, const FileStatus& b) {
    return a.last_used_ns > b.last_used_ns;
  });
  for (const FileStatus& status : files) {
    CacheListing listing{.path = status.path,
                         .file_bytes = status.bytes,
                         .last_used = status.last_used_ns / kNanoseconds,
                         .head = {},
                         .fault = {}};
    try {
      std::optional<EntryFile> file = EntryFile::open(status.path);
      if (!file) continue;
      listing.head = file->read_head();
    } catch (const Error& error) {
      listing.fault = error.what();
    }
    listings.push_back(std::move(listing));
  }
  return listings;
}

CacheCleared Cache::clear() {
  CacheCleared cleared = remove_abandoned_files();
  for (const FileStatus& file : files_in(directory_, is_entry_file)) {
    std::error_code error;
    if (fs::remove(file.path, error)) {
      ++cleared.files;
      cleared.bytes += file.bytes;
    } else if (error) {
      note(file.path,
           fmt::format("{} cannot be removed ({})", file.path.string(), error.message()));
    }
  }
  return cleared;
}

void Cache::note(const fs::path& path, const std::string& text) {
  if (noted_.insert(path).second) notes_.push_back(one_line(text));
}

}  // namespace trireme
