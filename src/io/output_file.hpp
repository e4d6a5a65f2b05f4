// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 file that all ranks write together, and that is complete under its name or absent.
//
// Rank 0 holds the file and writes the rows that the other ranks send in pieces of 4 MB, so that
// serial HDF5 suffices and little memory is needed. The file is a StagedFile until commit(),
// without which it is removed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/staged_file.hpp"
#include "io/hdf5.hpp"
#include "io/vectors.hpp"
#include "sparse/csr.hpp"

namespace trireme {

class OutputFile {
 public:
  // All members are collective. Throws Error{usage} where the file cannot be created. Every member
  // throws Error{resource} where the disk does not take the data.
  OutputFile(MPI_Comm comm, const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes the group that docs/file-formats.md describes, with the links and the attribute that
  // PETSc's MatLoad needs. Each rank gives its rows.
  void write_matrix(const std::string& path, const RowSlab& slab);
  // The shape is [rows] for one vector and [rows, k] for k vectors. Each rank gives its rows.
  void write_vectors(const std::string& path, const RowRange& rows,
                     std::span<const Array<double>> vectors);
  // Values and attributes that every rank knows; those of rank 0 are written.
  void write_list(const std::string& path, std::span<const double> values, const std::string& unit);
  void write_attribute(const std::string& name, const std::string& value);

  void commit();

 private:
  template <class T, class Fill>
  void write_pieces(const std::string& path, std::vector<std::int64_t> extents, std::int64_t first,
                    std::int64_t count, Fill fill);

  MPI_Comm comm_;
  StagedFile staged_;               // on rank 0
  std::optional<hdf5::File> file_;  // on rank 0; closed before staged_
};

}  // namespace trireme
