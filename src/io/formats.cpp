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
#include "io/text_vectors.hpp"
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
     open_on_rank_0<read_petsc_binary>, open_on_rank_0<read_petsc_vector>},
    {"Matrix Market", matrix_market_names, Content::one_system, is_matrix_market,
     open_on_rank_0<read_matrix_market_system, read_matrix_market_vectors>,
     open_on_rank_0<read_matrix_market_vectors>},
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

namespace {

const InputFormat* format_by_content(const std::filesystem::path& path) {
  for (const InputFormat& format : all_formats)
    if (format.recognises(path)) return &format;
  return nullptr;
}

// The format of the file, as rank 0 sees it. Where `plain_numbers`, which ends the message, is not
// empty, a file of plain numbers is allowed: null. Collective.
const InputFormat* agreed_format(MPI_Comm comm, const std::filesystem::path& path,
                                 const std::string& plain_numbers) {
  constexpr std::ptrdiff_t kPlainNumbers = -1;
  std::ptrdiff_t position = 0;
  collectively(comm, [&] {
    if (rank_of(comm) != 0) return;
    must_be_readable(path);
    const InputFormat* format = format_by_content(path);
    if (!format && !plain_numbers.empty() && is_text_of_numbers(path)) {
      position = kPlainNumbers;
      return;
    }
    if (!format) format = find_format(path);
    if (!format)
      fail(ExitCode::input, "{} is of no known format; known: {}{}", path.string(),
           list_of_formats(), plain_numbers);
    position = format - all_formats;
  });
  MPI_Bcast(&position, sizeof(position), MPI_BYTE, 0, comm);
  return position == kPlainNumbers ? nullptr : &all_formats[position];
}

}  // namespace

const InputFormat* find_format(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return nullptr;
  if (const InputFormat* format = format_by_content(path)) return format;
  const std::string name = path.filename().string();
  for (const InputFormat& format : all_formats)
    for (const std::string_view extension : format.extensions)
      if (name.ends_with(extension)) return &format;
  return nullptr;
}

const InputFormat& format_of(MPI_Comm comm, const std::filesystem::path& path) {
  return *agreed_format(comm, path, "");
}

std::unique_ptr<SystemSource> open_vectors(MPI_Comm comm, const std::filesystem::path& path) {
  const InputFormat* format = agreed_format(comm, path, ", plain numbers (one row per line)");
  if (!format) return open_whole(comm, path, read_text_vectors);
  return (format->open_vectors ? format->open_vectors : format->open)(comm, path);
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
