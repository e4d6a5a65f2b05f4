// SPDX-License-Identifier: BSD-3-Clause
// Exclusive creation, fsync, rename, fsync of the folder.
#include "base/staged_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const fs::path& path, const char* do_what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EIO || error == EFBIG;
  fail(full ? ExitCode::resource : ExitCode::usage, "{}: cannot be {} ({}); {}", path.string(),
       do_what, std::generic_category().message(error),
       full ? "free some space or choose another folder"
            : "check the folder and its permissions, or choose another");
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : number_(open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

// Some file systems have no fsync for files that were opened for reading, or none for folders.
bool reaches_the_disk(int descriptor) {
  return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == EBADF ||
         errno == ENOTSUP;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

StagedFile::StagedFile(fs::path path, Writers writers)
    : path_(std::move(path)), mode_(writers == Writers::owner ? 0644 : 0666) {
  std::random_device random;
  temporary_ = folder_of(path_) /
               fmt::format(".{}.{:08x}{:08x}.tmp", path_.filename().string(), random(), random());
}

StagedFile::~StagedFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      mode_(other.mode_) {}

StagedFile& StagedFile::operator=(StagedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(mode_, other.mode_);
  return *this;
}

void StagedFile::write(std::initializer_list<std::string_view> parts) {
  Descriptor file(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_);
  if (file.number() < 0) cannot(path_, "written", errno);
  for (std::string_view text : parts) {
    while (!text.empty()) {
      const ssize_t written = ::write(file.number(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) cannot(path_, "written", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (!file.close()) cannot(path_, "written", errno);
}

void StagedFile::commit() {
  {
    const Descriptor file(temporary_, O_RDWR | O_NOFOLLOW);
    if (file.number() < 0 || !reaches_the_disk(file.number())) cannot(path_, "written", errno);
  }
  commit_unflushed();
  const Descriptor folder(folder_of(path_), O_RDONLY | O_DIRECTORY);
  if (folder.number() >= 0 && !reaches_the_disk(folder.number())) cannot(path_, "written", errno);
}

void StagedFile::commit_unflushed() {
  if (rename(temporary_.c_str(), path_.c_str()) != 0) cannot(path_, "replaced", errno);
  temporary_.clear();
}

}  // namespace trireme
