// SPDX-License-Identifier: BSD-3-Clause
// Reads Matrix Market files (.mtx, .mtx.gz), with all the threads of this process.
//
// coordinate and array; real, integer, pattern (values 1); general, symmetric, skew-symmetric,
// which come out with both triangles. Duplicates are summed. Complex and hermitian files are
// refused. Throws Error{input} with file and line.
#pragma once

#include <filesystem>
#include <vector>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Columns ascend in each row. At most 2^31-1 nonzeros; takes 16 bytes for each stored entry beside
// the matrix. Zeros of the array format are left out, zeros stored in the coordinate format kept.
CsrMatrix<double> read_matrix_market(const std::filesystem::path& path);

// The columns of an array file, or of a coordinate file made dense: right-hand sides.
std::vector<Array<double>> read_matrix_market_vectors(const std::filesystem::path& path);

}  // namespace trireme
