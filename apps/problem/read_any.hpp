// SPDX-License-Identifier: BSD-3-Clause
// A whole matrix from a file of a format that others write.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/array.hpp"
#include "base/error.hpp"
#include "io/matrix_market.hpp"
#include "io/petsc_binary.hpp"
#include "sparse/csr.hpp"

namespace trireme::problem_app {

struct ForeignMatrix {
  CsrMatrix<double> matrix;
  std::optional<Array<double>> b;
};

inline bool is_hdf5_name(const std::filesystem::path& path) {
  return path.extension() == ".h5" || path.extension() == ".hdf5" || path.extension() == ".mat";
}

// PETSc binary is known by its first bytes, all else is Matrix Market.
inline ForeignMatrix read_foreign(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) fail(ExitCode::input, "{}: no such file", path.string());
  std::string start(8, '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), 8);
  if (start == "\x89HDF\r\n\x1a\n")
    fail(ExitCode::input, "{} is an HDF5 file already: solve reads it as it is", path.string());
  if (is_petsc_binary(path)) {
    PetscSystem system = read_petsc_binary(path);
    return {std::move(system.matrix), std::move(system.b)};
  }
  return {read_matrix_market(path), std::nullopt};
}

}  // namespace trireme::problem_app
