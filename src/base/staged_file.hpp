// SPDX-License-Identifier: BSD-3-Clause
// A file that is complete under its name, or absent.
//
// The file is written under a random name in the same folder, and renamed when it is complete and
// on the disk. The random name is created with O_EXCL, so that no symbolic link of that name is
// followed, and two programs that write the same file do not share a temporary one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace trireme {

class StagedFile {
 public:
  // Who may write the file. Everybody whom the umask of the process leaves, or its owner only.
  enum class Writers { by_umask, owner };

  StagedFile() = default;
  // Chooses the temporary name and creates nothing. `writers` are those of a file by write().
  explicit StagedFile(std::filesystem::path path, Writers writers = Writers::by_umask);
  ~StagedFile();  // without commit() the temporary file is removed
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  // The name for a library that creates the file itself; it must do so exclusively (H5F_ACC_EXCL).
  const std::filesystem::path& temporary() const { return temporary_; }

  // Another name in the same folder for the complete file.
  void set_path(std::filesystem::path path) { path_ = std::move(path); }

  // Creates the temporary file with these parts one after the other. Throws Error{usage} where the
  // folder does not allow a file, Error{resource} where the disk does not take the text.
  void write(std::initializer_list<std::string_view> parts);
  void write(std::string_view text) { write({text}); }

  // Flushes the closed temporary file to the disk and renames it to path(), where it replaces a
  // file or a symbolic link. Throws Error{usage} or Error{resource} like write().
  void commit();
  // Renames without flushing. After a crash of the machine the file may be incomplete, so that its
  // reader must be able to tell. Throws like write().
  void commit_unflushed();

 private:
  std::filesystem::path path_, temporary_;  // empty: nothing to remove
  mode_t mode_ = 0;                         // before the umask
};

}  // namespace trireme
