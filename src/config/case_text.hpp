// SPDX-License-Identifier: BSD-3-Clause
// A case as YAML text: made from the name of a matrix, or with the changes of a command line in it.
#pragma once

#include <filesystem>
#include <string>

#include "config/read_case.hpp"

namespace trireme {

// The text of a case whose problem is the matrix in `file`, "system.mtx" or "system.h5:/K" for the
// group /K of an HDF5 file. Everything else has its default.
std::string case_of_matrix(const std::string& file);

// The case in `text`, with the changes, as one text without comments that stands for the same Case
// in the current directory: names of files are relative to it. PETSc options are flat. Throws what
// parse_case() throws.
std::string changed_case(const std::string& text, const std::filesystem::path& path,
                         const Changes& changes);

}  // namespace trireme
