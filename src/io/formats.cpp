// SPDX-License-Identifier: BSD-3-Clause
// The list of input formats. A new format is a pair of files with its reader and a line here.
#include "io/formats.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "io/hdf5_input.hpp"
#include "io/matrix_market.hpp"
#include "io/petsc_binary.hpp"
#include "io/whole_system.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::string_view hdf5_names[] = {".h5", ".hdf5", ".mat"};
constexpr std::string_view petsc_names[] = {".petsc"};
constexpr std::string_view matrix_market_names[] = {".mtx", ".mtx.gz"};

constexpr InputFormat all_formats[] = {
    {"HDF5", hdf5_names, Content::named_objects, is_hdf5, open_hdf5},
    {"PETSc binary", petsc_names, Content::one_system, is_petsc_binary,
     open_on_rank_0<read_petsc_binary>},
    {"Matrix Market", matrix_market_names, Content::one_system, is_matrix_market,
     open_on_rank_0<read_matrix_market>},
};

void must_be_readable(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail(ExitCode::input, "{}: no such file", path.string());
  if (std::filesystem::is_directory(path, ignored))
    fail(ExitCode::input, "{} is a directory; name a file", path.string());
  if (!std::filesystem::is_regular_file(path, ignored))
    fail(ExitCode::input, "{} is a pipe or a device; name a regular file", path.string());
  std::FILE* readable = std::fopen(path.c_str(), "rb");
  if (!readable) fail(ExitCode::input, "{}: cannot be read; check its permissions", path.string());
  std::fclose(readable);
}

}  // namespace

std::span<const InputFormat> input_formats() { return all_formats; }

const InputFormat* find_format(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return nullptr;
  for (const InputFormat& format : all_formats)
    if (format.recognises(path)) return &format;
  const std::string name = path.filename().string();
  for (const InputFormat& format : all_formats)
    for (const std::string_view extension : format.extensions)
      if (name.ends_with(extension)) return &format;
  return nullptr;
}

const InputFormat& format_of(MPI_Comm comm, const std::filesystem::path& path) {
  std::ptrdiff_t position = 0;
  collectively(comm, [&] {
    if (rank_of(comm) != 0) return;
    must_be_readable(path);
    const InputFormat* format = find_format(path);
    if (!format)
      fail(ExitCode::input, "{} is of no known format; known: {}", path.string(),
           list_of_formats());
    position = format - all_formats;
  });
  MPI_Bcast(&position, sizeof(position), MPI_BYTE, 0, comm);
  return all_formats[position];
}

std::string list_of_formats(std::optional<Content> content) {
  std::string list;
  for (const InputFormat& format : all_formats) {
    if (content && format.content != *content) continue;
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", format.name,
                        fmt::join(format.extensions, ", "));
  }
  return list;
}

}  // namespace trireme
