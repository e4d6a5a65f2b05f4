// SPDX-License-Identifier: BSD-3-Clause
// Vectors that belong to a matrix: this rank's rows of them.
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
  std::int64_t global = 0;  // number of rows of all ranks
};

// How many vectors a dataset holds, and the number of their rows.
struct VectorShape {
  std::int64_t length = 0;
  std::int64_t count = 0;
};

// The shape of a dataset as read_vectors() understands it, where a MATLAB dataset [n, 1] is one
// vector. Throws Error{input} for a missing dataset and for more than two dimensions. Not
// collective.
VectorShape shape_of_vectors(const hdf5::File& file, const std::string& path);

// Reads a dataset of one or more vectors, of the shape [rows] or [rows, k]. A dataset with the
// attribute MATLAB_class has the shape [k, rows], as MATLAB stores a rows x k matrix, or [rows, 1],
// as it stores a row vector. Throws Error{input} for other shapes, and for NaN or infinity, with
// the row. Not collective.
std::vector<Array<double>> read_vectors(const hdf5::File& file, const std::string& path,
                                        const RowRange& rows);

// Numbers that are uniform in (-1, 1), by a hash of the row number and the seed, so that the vector
// is the same on any number of ranks.
Array<double> random_vector(const RowRange& rows, std::uint64_t seed);

// `rows` times the same value.
Array<double> constant_vector(std::int64_t rows, double value);

// b = A 1, for the rows of the matrix.
Array<double> row_sums(const CsrMatrix<double>& matrix);

}  // namespace trireme
