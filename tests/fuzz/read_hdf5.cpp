// SPDX-License-Identifier: BSD-3-Clause
// Reads groups as matrices and datasets as vectors.
#include "fuzz/read_hdf5.hpp"

#include <mpi.h>

#include <string>

#include "fuzz/harness.hpp"
#include "io/read_matrix.hpp"
#include "io/vectors.hpp"

namespace trireme::fuzz {
namespace {

void read_vectors_of(const hdf5::File& file, const RowRange& rows) {
  for (const std::string& dataset : file.datasets())
    must_read_or_refuse([&] { read_vectors(file, "/" + dataset, rows); });
}

}  // namespace

void read_all_of_hdf5(const std::filesystem::path& path) {
  must_read_or_refuse([&] {
    const hdf5::File file = hdf5::File::open(path);
    for (const std::string& group : file.groups()) {
      must_read_or_refuse([&] {
        const StoredMatrix stored = find_matrix(file, "/" + group);
        const MatrixOnRanks matrix = read_matrix(MPI_COMM_SELF, stored);
        must_be_canonical(matrix.slab.local);
        const std::int64_t rows = matrix.slab.global_rows;
        read_vectors_of(file, {0, rows, rows});
      });
    }
    must_read_or_refuse([&] { find_matrix(file, "/none"); });
    must_read_or_refuse([&] { read_vectors(file, "/b", {1, 2, 4}); });
    read_vectors_of(file, {0, 4, 4});
  });
}

}  // namespace trireme::fuzz
