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
  // A dataset [vectors, rows], to which append_vector() adds one vector at a time.
  void begin_vectors(const std::string& path, std::int64_t rows);
  // Each rank gives its rows of the next vector.
  void append_vector(const RowRange& rows, std::span<const double> vector);
  // The same without communication, on a communicator of one rank, so that another thread can call
  // it while nothing else uses HDF5. Not collective.
  void append_alone(std::span<const double> vector);
  // Values and attributes that every rank knows; those of rank 0 are written.
  void write_list(const std::string& path, std::span<const double> values, const std::string& unit);
  void write_attribute(const std::string& name, const std::string& value);

  // Another name in the same folder, under which commit() leaves the file.
  void set_path(const std::filesystem::path& path) { staged_.set_path(path); }
  void commit();

 private:
  template <class T, class Fill>
  void write_pieces(const std::string& path, std::vector<std::int64_t> extents, std::int64_t first,
                    std::int64_t count, Fill fill);

  template <class T, class Fill, class Write>
  void through_rank_zero(std::int64_t width, std::int64_t first, std::int64_t count, Fill fill,
                         Write write_rows);

  MPI_Comm comm_;
  StagedFile staged_;               // on rank 0
  std::optional<hdf5::File> file_;  // on rank 0; closed before staged_
  hdf5::Dataset growing_;           // on rank 0, of begin_vectors()
};

}  // namespace trireme
