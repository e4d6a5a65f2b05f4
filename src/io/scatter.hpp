// SPDX-License-Identifier: BSD-3-Clause
// Sends a matrix and vectors that rank 0 holds to the ranks that own the rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "base/array.hpp"
#include "io/read_matrix.hpp"
#include "io/vectors.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Cuts the rows of `whole`, which only rank 0 has, into shares of equal work at multiples of
// `rows_together`, and sends each rank its share. On one rank nothing is copied. On several, rank
// 0 holds the whole matrix and its own share of one array at once. Throws Error{resource}, which
// names `name`, on every rank where the memory does not suffice. Collective.
MatrixOnRanks scatter_matrix(MPI_Comm comm, const std::string& name, CsrMatrix<double>&& whole,
                             std::int64_t rows_together);

// Sends each rank its entries, `rows`, of a vector that only rank 0 has. Collective.
Array<double> scatter_vector(MPI_Comm comm, const Array<double>& whole, const RowRange& rows);

}  // namespace trireme
