// SPDX-License-Identifier: BSD-3-Clause
// This rank's rows of a matrix in an HDF5 file, checked. Collective functions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "io/entries_sink.hpp"
#include "io/hash_sums.hpp"
#include "io/stored_matrix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct MatrixOnRanks {
  RowSlab slab;                          // columns ascend in each row, without duplicates
  std::vector<std::int64_t> row_starts;  // ranks + 1, by split_by_nonzeros()
  std::int64_t duplicates_summed = 0;    // entries of all ranks that were added to another
  double check_seconds = 0;              // checks that came after reading, and sorting
  bool in_stored_order = false;          // the source has the entries of all ranks in this order
  bool none_above_usual = false;         // this rank has looked: no magnitude above kUsualMagnitude
  std::optional<EntryHashes> hashes;     // of the slab, where they were taken while it was read
};

// Throws the same Error{input} on all ranks, which names the dataset and the first wrong position,
// and Error{resource} where the memory does not suffice. Takes the memory of the rows and of pieces
// of bounded size. `sink` may be null; a matrix by columns passes it nothing.
MatrixOnRanks read_matrix(MPI_Comm comm, const StoredMatrix& stored, EntriesSink* sink = nullptr);

// For a matrix by rows. Each rank scans an even share of the row pointers for the cuts, so that
// none reads them all, and then reads its rows directly into the final arrays.
MatrixOnRanks read_csr(MPI_Comm comm, const StoredMatrix& stored, EntriesSink* sink = nullptr);

// Reads the rows [slab.first_row, slab.first_row + slab.local.rows) of a matrix by rows into
// `slab`, whose sizes are set. Not collective.
struct ReadRows {
  EntryHashes hashes;  // of the entries at their positions in the file
  bool none_above_usual = false;
};
ReadRows read_rows(const StoredMatrix& stored, RowSlab& slab, EntriesSink* sink);

// For a matrix by columns. Each rank reads a share of the columns twice, in pieces, and sends the
// entries to the owners of their rows: first to count them, then to place them.
MatrixOnRanks read_csc(MPI_Comm comm, const StoredMatrix& stored);

}  // namespace trireme
