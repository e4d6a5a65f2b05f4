// SPDX-License-Identifier: BSD-3-Clause
// Reads Matrix Market files (.mtx, .mtx.gz) with all threads of this process.
//
// The files may be coordinate or array; real, integer or pattern (values 1); general, symmetric or
// skew-symmetric, whose matrices get both triangles. Duplicates are added up. Complex and hermitian
// files are refused. Exponents may have the letter D of Fortran, comments may be indented, a
// skew-symmetric file may store zeros on its diagonal, and the first line may follow a byte order
// mark and may have one % in place of two. The readers throw Error{input} with file and line.
#pragma once

#include <filesystem>
#include <vector>

#include "base/array.hpp"
#include "io/whole_system.hpp"

namespace trireme {

// Whether the file, inflated where it is gzipped, begins with %%MatrixMarket in any case.
bool is_matrix_market(const std::filesystem::path& path);

// A matrix alone, of at most 2^31-1 nonzeros. Reading takes 16 bytes per stored
// entry beside the matrix. Zeros of the array format are left out; zeros stored in the coordinate
// format are kept.
WholeSystem read_matrix_market(const std::filesystem::path& path);

// The same with WholeSystem::b_beside: NAME_b.mtx (or .mtx.gz) beside NAME.mtx (or .mtx.gz), where
// there is one.
WholeSystem read_matrix_market_system(const std::filesystem::path& path);

// The columns of an array file, or those of a coordinate file as dense vectors, as right-hand
// sides.
WholeSystem read_matrix_market_vectors(const std::filesystem::path& path);

}  // namespace trireme
