// SPDX-License-Identifier: BSD-3-Clause
// This rank's rows of a matrix in an HDF5 file, checked. Collective functions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "io/stored_matrix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct MatrixOnRanks {
  RowSlab slab;                          // canonical: columns ascend in each row, no duplicates
  std::vector<std::int64_t> row_starts;  // ranks + 1: the cuts of split_by_nonzeros
  std::int64_t duplicates_summed = 0;    // entries that were added to another, all ranks
};

// Throws the same Error{input} on all ranks, which names dataset and first offending position.
// Memory stays that of the rows plus pieces of bounded size.
MatrixOnRanks read_matrix(MPI_Comm comm, const StoredMatrix& stored);

// By rows: each rank scans an even share of the row pointers for the cuts, so that none reads them
// all, then reads its slab straight into the final arrays.
MatrixOnRanks read_csr(MPI_Comm comm, const StoredMatrix& stored);

// By columns: each rank reads a share of the columns in pieces and sends the entries to the owners
// of the rows; once to count them, once to place them.
MatrixOnRanks read_csc(MPI_Comm comm, const StoredMatrix& stored);

}  // namespace trireme
