// SPDX-License-Identifier: BSD-3-Clause
// A file that is whole under its name, or not there at all.
//
// It is written under a random name in the folder of its own name, and renamed when it is complete
// and on the disk. The random name is created with O_EXCL: a symbolic link that waits there is
// never followed, and two programs that write the same file never share a temporary one.
#pragma once

#include <filesystem>
#include <string_view>

namespace trireme {

class StagedFile {
 public:
  StagedFile() = default;
  // Picks the temporary name; creates nothing.
  explicit StagedFile(std::filesystem::path path);
  ~StagedFile();  // without commit() the temporary file is removed
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  // For a library that creates the file itself, which must do so exclusively (H5F_ACC_EXCL).
  const std::filesystem::path& temporary() const { return temporary_; }

  // Creates the temporary file with this text. Throws Error{usage} where the folder takes no file,
  // Error{resource} where the disk does not take the text.
  void write(std::string_view text);

  // Brings the closed temporary file to the disk and gives it its name; a file or a symbolic link
  // of that name is replaced. Throws Error{usage} or Error{resource} likewise.
  void commit();

 private:
  std::filesystem::path path_, temporary_;  // empty: nothing to remove
};

}  // namespace trireme
