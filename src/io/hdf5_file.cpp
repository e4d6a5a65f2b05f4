// SPDX-License-Identifier: BSD-3-Clause
// Opens, creates and closes HDF5 files (hdf5.hpp).
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_calls.hpp"

namespace trireme::hdf5 {

File File::open(const std::filesystem::path& path) {
  const Quiet quiet;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail(ExitCode::input, "{}: no such file", path.string());
  if (std::filesystem::is_directory(path, ignored))
    fail(ExitCode::input, "{} is a directory; name an HDF5 file", path.string());
  std::FILE* readable = std::fopen(path.c_str(), "rb");
  if (!readable) fail(ExitCode::input, "{}: cannot be read; check its permissions", path.string());
  std::fclose(readable);
  if (H5Fis_hdf5(path.c_str()) <= 0)
    fail(ExitCode::input,
         "{} is not an HDF5 file, or its beginning is damaged; write it again (MATLAB: save with "
         "-v7.3)",
         path.string());
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_WEAK);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.get(), true, true);  // ignore locks where the file system has none
#endif
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
  if (file < 0) {
    const std::string reason = innermost_reason();
    fail(ExitCode::input, "{}: damaged or unreadable HDF5 file ({}); copy or write it again",
         path.string(), reason);
  }
  return File(Handle(file), path.string() + ": /");
}

File File::create(const std::filesystem::path& path, const std::filesystem::path& shown_as) {
  const Quiet quiet;
  const std::string name = (shown_as.empty() ? path : shown_as).string();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // HDF5 1.8 and later can read the file, and an attribute (the text of a case) may exceed 64 KiB.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get());
  if (file < 0) {
    const std::string reason = innermost_reason();
    fail(ExitCode::usage, "{}: cannot be written ({}); check the folder, its permissions and space",
         name, reason);
  }
  return File(Handle(file), name + ": /");
}

void File::close() {
  const Quiet quiet;
  check(H5Fflush(id(), H5F_SCOPE_GLOBAL), name_, "write to disk", ExitCode::resource);
  handle_ = Handle();
}

}  // namespace trireme::hdf5
