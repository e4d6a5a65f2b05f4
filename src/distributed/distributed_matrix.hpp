// SPDX-License-Identifier: BSD-3-Clause
// A square matrix whose contiguous row blocks lie on the ranks: the one copy that all operators
// share.
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

class DeviceBlocks;
struct MatrixLook;
struct RowSizes;

// What row_sizes() (row_sizes.hpp) has found in the values of this version.
struct RowSizesOfVersion {
  std::shared_ptr<const RowSizes> sizes;
  std::uint64_t version = 0;
};

// What look_at() (matrix_look.hpp) has found in them.
struct LookOfVersion {
  std::shared_ptr<const MatrixLook> look;
  std::uint64_t version = 0;
};

// Rank r owns the rows and columns [row_starts[r], row_starts[r+1]), and these entries of vectors.
struct DistributedMatrix {
  MPI_Comm comm = MPI_COMM_NULL;         // owned by the caller; must outlive the matrix
  std::vector<std::int64_t> row_starts;  // ranks + 1
  std::int64_t global_nnz = 0;           // of all ranks
  SplitRows blocks;
  HaloPlan halo;
  // Rises with each replacement of the values, so that copies of them know whether they are old.
  std::uint64_t values_version = 0;
  // The row of the file at each local row, where rows were redistributed; otherwise empty.
  Array<std::int32_t> callers_rows;
  std::shared_ptr<DeviceBlocks> on_device;  // null until DeviceBlocks::of() is called
  mutable RowSizesOfVersion row_sizes;
  mutable LookOfVersion look;

  std::int64_t local_rows() const { return blocks.local.rows; }
  std::int64_t first_row() const;
  std::int64_t global_rows() const { return row_starts.back(); }
  // The number by which messages name a local row: that of the file.
  std::int64_t callers_row(std::int64_t row) const {
    return callers_rows.empty() ? first_row() + row : callers_rows[row];
  }
  std::int64_t csr_bytes() const;  // of this rank's rows: 12 per nonzero and 4 per row

  // For what numbers nonzeros of a rank, or rows of all ranks, by 32 bits: throws Error{resource}
  // on every rank where these do not suffice. Collective.
  void require_32_bits() const;

  // d[i] = a_ii of local row i. Duplicates are added up; an entry that is not stored is 0. `d` has
  // local_rows() numbers.
  void diagonal(std::span<double> d) const;
  // Takes new values in the order of the slab that distribute() took: blocks.nnz() numbers.
  void replace_values(std::span<const double> values);
  // The same where no row has a ghost, without a copy: `values` becomes the array of the matrix and
  // receives the former one. Views of the former values then see those of `values`, so that only
  // operators that keep no such view (those of a GPU) may exist.
  void exchange_values(Array<double>& values);
};

// Splits the slab, which holds this rank's rows, and plans the halo. Throws Error{input} on every
// rank for a matrix that is not square. Collective.
std::shared_ptr<DistributedMatrix> distribute(MPI_Comm comm, RowSlab&& slab,
                                              std::vector<std::int64_t> row_starts);

}  // namespace trireme
