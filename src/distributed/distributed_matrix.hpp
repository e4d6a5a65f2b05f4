// SPDX-License-Identifier: BSD-3-Clause
// A square matrix distributed by contiguous row blocks: the one copy that all operators share.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "distributed/halo.hpp"
#include "distributed/split_rows.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Rank r owns rows and columns [row_starts[r], row_starts[r+1]); vectors are split likewise.
struct DistributedMatrix {
  MPI_Comm comm = MPI_COMM_NULL;  // the caller's; it must outlive the matrix
  std::vector<std::int64_t> row_starts;
  std::int64_t global_nnz = 0;
  SplitRows blocks;
  HaloPlan halo;

  std::int64_t local_rows() const { return blocks.local.rows; }
  std::int64_t first_row() const;
  std::int64_t global_rows() const { return row_starts.back(); }
  std::int64_t csr_bytes() const;  // of this rank's rows: 12 a nonzero and 4 a row

  // d[i] = a_ii of the local rows, duplicates added; 0 where it is not stored.
  void diagonal(std::span<double> d) const;
};

// Splits the slab and plans the halo. row_starts has ranks + 1 entries and the slab holds this
// rank's rows of it. Throws Error{input} on every rank for a matrix that is not square. Collective.
std::shared_ptr<DistributedMatrix> distribute(MPI_Comm comm, RowSlab&& slab,
                                              std::vector<std::int64_t> row_starts);

}  // namespace trireme
