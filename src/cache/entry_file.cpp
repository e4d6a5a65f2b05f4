// SPDX-License-Identifier: BSD-3-Clause
// open() with O_NOFOLLOW and O_NONBLOCK, fstat(), pread().
#include "cache/entry_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace trireme {
namespace {

constexpr std::string_view kSuffix = ".trireme";
constexpr std::size_t kKeyNameLength = 32;

bool hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_entry_name(std::string_view name) {
  return name.size() == kKeyNameLength + kSuffix.size() && name.ends_with(kSuffix) &&
         hexadecimal(name.substr(0, kKeyNameLength));
}

[[noreturn]] void cannot_read(int error) {
  fail(ExitCode::input, "cannot be read ({})", std::generic_category().message(error));
}

}  // namespace

std::string entry_file_name(std::string_view key_name) {
  return std::string(key_name) + std::string(kSuffix);
}

bool is_entry_file(const std::filesystem::path& path) {
  return is_entry_name(path.filename().string());
}

bool is_temporary_entry_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t entry = kKeyNameLength + kSuffix.size();
  return name.size() > entry + 1 && name[0] == '.' && name.ends_with(".tmp") &&
         is_entry_name(std::string_view(name).substr(1, entry));
}

std::optional<EntryFile> EntryFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    if (errno == ELOOP) fail(ExitCode::input, "is a symbolic link");
    cannot_read(errno);
  }
  EntryFile file(descriptor, 0);
  struct stat status {};
  if (fstat(descriptor, &status) != 0) cannot_read(errno);
  if (!S_ISREG(status.st_mode)) fail(ExitCode::input, "is not a regular file");
  if (status.st_uid != geteuid() && status.st_uid != 0)
    fail(ExitCode::input, "belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    fail(ExitCode::input, "can be written by other users");
  file.bytes_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

EntryFile::~EntryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

EntryFile::EntryFile(EntryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      payload_at_(other.payload_at_) {}

void EntryFile::read(std::span<std::byte> into, std::uint64_t offset) {
  while (!into.empty()) {
    const ssize_t count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_read(errno);
    if (count == 0) fail(ExitCode::input, "is truncated");
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

CacheEntryHead EntryFile::read_head() {
  std::string bytes(std::min<std::uint64_t>(bytes_, kCacheHeaderBytes), '\0');
  read(std::as_writable_bytes(std::span(bytes)), 0);
  bytes.resize(head_bytes(bytes, bytes_));
  read(std::as_writable_bytes(std::span(bytes)), 0);
  payload_at_ = bytes.size();
  return decode_head(bytes, bytes_);
}

Array<std::byte> EntryFile::read_payload(const CacheEntryHead& head) {
  Array<std::byte> payload(static_cast<std::size_t>(head.payload_bytes));
  read(payload, payload_at_);
  if (checksum(payload) != head.payload_checksum) fail(ExitCode::input, "has a wrong checksum");
  return payload;
}

Array<std::byte> EntryFile::read_start(const CacheEntryHead& head, std::size_t count) {
  Array<std::byte> start(std::min(count, static_cast<std::size_t>(head.payload_bytes)));
  read(start, payload_at_);
  return start;
}

void EntryFile::touch() { static_cast<void>(futimens(descriptor_, nullptr)); }

}  // namespace trireme
