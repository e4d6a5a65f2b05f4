// SPDX-License-Identifier: BSD-3-Clause
// A compressed matrix in an HDF5 group: which of the known layouts it has, and its shape.
#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5.hpp"

namespace trireme {

// What the pointers run over. scipy's csr, PETSc: rows. MATLAB, scipy's csc: columns.
enum class Compressed { rows, columns };

struct StoredMatrix {
  std::string name;  // of the group, for messages
  Compressed by = Compressed::rows;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t rows_together = 1;  // no rank's rows begin but at a multiple of this
  hdf5::Dataset pointers;          // one more than there are rows (or columns)
  hdf5::Dataset indices;  // nnz column (or row) ids; not open where MATLAB left out an empty one
  hdf5::Dataset values;   // nnz

  std::int64_t pointer_count() const { return (by == Compressed::rows ? rows : cols) + 1; }
  std::int64_t index_bound() const { return by == Compressed::rows ? cols : rows; }
};

// Finds the group and checks what can be checked without reading data: names, types, lengths,
// shape. Known layouts:
//   indptr, indices, data with the attributes shape and format ("csr", "csc") or AnnData's
//     encoding-type ("csr_matrix", "csc_matrix");
//   jc, ir, data with the attribute MATLAB_sparse: PETSc's CSR, or MATLAB's CSC where MATLAB_class
//     is set.
StoredMatrix find_matrix(const hdf5::File& file, const std::string& path);

}  // namespace trireme
