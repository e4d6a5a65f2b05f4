// SPDX-License-Identifier: BSD-3-Clause
// A compressed matrix in an HDF5 group: its layout, its shape and its datasets.
#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {

// The dimension that the pointers run over: rows for scipy's csr and PETSc, columns for scipy's csc
// and MATLAB.
enum class Compressed { rows, columns };

struct StoredMatrix {
  std::string name;  // of the group, for messages
  Compressed by = Compressed::rows;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t rows_together = 1;                 // each rank's rows begin at a multiple of this
  std::int64_t most_of_block = kNonzerosOfBlock;  // nonzeros of a block of rows that is read
  hdf5::Dataset pointers;                         // one more than rows (or columns)
  hdf5::Dataset indices;  // nnz column (or row) ids; not open where MATLAB left an empty one out
  hdf5::Dataset values;   // nnz

  std::int64_t pointer_count() const { return (by == Compressed::rows ? rows : cols) + 1; }
  std::int64_t index_bound() const { return by == Compressed::rows ? cols : rows; }
};

// Opens the group and checks names, types, lengths and shape, without reading data. Throws
// Error{input}. Known layouts:
//   indptr, indices, data with the attributes shape and format ("csr", "csc") or AnnData's
//     encoding-type ("csr_matrix", "csc_matrix");
//   jc, ir, data with the attribute MATLAB_sparse: PETSc's CSR, or MATLAB's CSC where MATLAB_class
//     is set.
StoredMatrix find_matrix(const hdf5::File& file, const std::string& path);

}  // namespace trireme
