// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's binary format: a sparse matrix, and the vector that may follow it.
#pragma once

#include <filesystem>
#include <optional>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct PetscSystem {
  CsrMatrix<double> matrix;  // columns ascend in each row
  std::optional<Array<double>> b;
};

// Whether the file begins as a PETSc binary matrix (MatView with a binary viewer).
bool is_petsc_binary(const std::filesystem::path& path);

// Integers of 32 or 64 bits (PETSc's --with-64-bit-indices), real double values, big-endian.
// Throws Error{input} with the first offending position.
PetscSystem read_petsc_binary(const std::filesystem::path& path);

}  // namespace trireme
