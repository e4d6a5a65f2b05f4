// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's binary format: a sparse matrix, and the vector that may follow it.
#pragma once

#include <filesystem>

#include "io/whole_system.hpp"

namespace trireme {

// Whether the file begins as a PETSc binary matrix (MatView with a binary viewer).
bool is_petsc_binary(const std::filesystem::path& path);

// Reads integers of 32 or 64 bits (PETSc's --with-64-bit-indices) and real double values, all
// big-endian. A vector after the matrix becomes b. Throws Error{input}, which names the first wrong
// position.
WholeSystem read_petsc_binary(const std::filesystem::path& path);

}  // namespace trireme
