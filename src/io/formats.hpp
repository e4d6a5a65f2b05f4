// SPDX-License-Identifier: BSD-3-Clause
// The list of input formats, which `solve`, `problem` and `kernel_bench` can all read.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/system_source.hpp"

namespace trireme {

enum class Content {
  one_system,    // a matrix, and perhaps right-hand sides named /b
  named_objects  // any number of matrices and vectors, each with a name
};

struct InputFormat {
  std::string_view name;                         // for messages: "Matrix Market"
  std::span<const std::string_view> extensions;  // with the dot: ".mtx", ".mtx.gz"
  Content content;
  // Whether the file begins like the format. Throws nothing; false where the file cannot be read.
  bool (*recognises)(const std::filesystem::path& path);
  // Opens a file of the format. Throws Error{input}. Collective.
  std::unique_ptr<SystemSource> (*open)(MPI_Comm comm, const std::filesystem::path& path);
  // Likewise for a file that is read for its vectors alone, which may hold no matrix. Null: by
  // `open`.
  std::unique_ptr<SystemSource> (*open_vectors)(MPI_Comm comm,
                                                const std::filesystem::path& path) = nullptr;
};

std::span<const InputFormat> input_formats();

// The format that recognises the file by its content; where none does, the format with the
// extension of the file's name. Null where there is neither, and for a file that does not exist.
const InputFormat* find_format(const std::filesystem::path& path);

// The same for all ranks, of which rank 0 looks at the file. Throws Error{input} for a missing
// file, a directory, a file without read permission, and a file of no known format. Collective.
const InputFormat& format_of(MPI_Comm comm, const std::filesystem::path& path);

// Opens a file of right-hand sides: a file of any of these formats, or of plain numbers
// (io/text_vectors.hpp). Those of a format without names are called /b. Errors as above.
// Collective.
std::unique_ptr<SystemSource> open_vectors(MPI_Comm comm, const std::filesystem::path& path);

// "HDF5 (.h5, .hdf5, .mat), PETSc binary (.petsc), ...", for messages and help texts: all formats,
// or those of one content.
std::string list_of_formats(std::optional<Content> content = std::nullopt);

}  // namespace trireme
