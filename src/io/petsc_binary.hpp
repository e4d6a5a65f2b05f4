// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's binary format: a sparse matrix and the vector that may follow it, or a vector
// alone.
#pragma once

#include <filesystem>

#include "io/whole_system.hpp"

namespace trireme {

// Whether the file begins as a PETSc binary matrix or vector (MatView or VecView with a binary
// viewer).
bool is_petsc_binary(const std::filesystem::path& path);

// Reads integers of 32 or 64 bits (PETSc's --with-64-bit-indices) and real double values, all
// big-endian. A vector after the matrix becomes b, and what follows it is not read. Throws
// Error{input}, which names the first wrong position, and for values that a PETSc of another
// precision or a complex one has written, as far as the file tells.
WholeSystem read_petsc_binary(const std::filesystem::path& path);

// Likewise the vector alone of a file that begins with one; else that after the matrix.
WholeSystem read_petsc_vector(const std::filesystem::path& path);

}  // namespace trireme
