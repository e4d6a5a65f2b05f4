// SPDX-License-Identifier: BSD-3-Clause
// This rank's rows of the vectors that belong to a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "io/hdf5.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t global = 0;  // rows of all ranks
};

// A dataset of one or more vectors: [rows] or [rows, k]. With the attribute MATLAB_class, [k,
// rows], which is how MATLAB stores its rows x k matrix; also [rows, 1], its row vector. Throws
// Error{input} for other shapes and for NaN or infinity, naming the row. Not collective.
std::vector<Array<double>> read_vectors(const hdf5::File& file, const std::string& path,
                                        const RowRange& rows);

// Uniform in (-1, 1), a hash of the row: the same vector on any number of ranks.
Array<double> random_vector(const RowRange& rows, std::uint64_t seed);

// b = A 1.
Array<double> row_sums(const CsrMatrix<double>& matrix);

}  // namespace trireme
