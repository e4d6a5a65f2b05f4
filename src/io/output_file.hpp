// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 file written by all ranks together: whole under its name, or not there at all.
//
// Rank 0 holds the file and writes slabs that the others send in pieces of a few MB, so it works
// with parallel and serial HDF5 alike and needs little memory. The file is a StagedFile until
// commit(); without commit() it is removed.
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
  // Collective, as are all members. Throws Error{usage} when the place cannot be written.
  OutputFile(MPI_Comm comm, const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The group of docs/file-formats.md, with the links and the attribute that PETSc's MatLoad needs.
  void write_matrix(const std::string& path, const RowSlab& slab);
  // [rows] for one vector, [rows, k] for more; local rows each.
  void write_vectors(const std::string& path, const RowRange& rows,
                     std::span<const Array<double>> vectors);
  // What every rank knows: rank 0's is written.
  void write_list(const std::string& path, std::span<const double> values, const std::string& unit);
  void write_attribute(const std::string& name, const std::string& value);

  void commit();

 private:
  template <class T, class Fill>
  void write_pieces(const std::string& path, std::vector<std::int64_t> extents, std::int64_t first,
                    std::int64_t count, Fill fill);

  MPI_Comm comm_;
  StagedFile staged_;               // on rank 0, as is
  std::optional<hdf5::File> file_;  // what is closed before it
};

}  // namespace trireme
