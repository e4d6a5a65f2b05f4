// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as an HDF5 file: every group at its top as a matrix, every dataset as right-hand sides.
#include <mpi.h>

#include <string>

#include "fuzz/harness.hpp"
#include "io/read_matrix.hpp"
#include "io/vectors.hpp"

namespace {

using trireme::fuzz::must_read_or_refuse;

void read_vectors_of(const trireme::hdf5::File& file, const trireme::RowRange& rows) {
  for (const std::string& dataset : file.datasets())
    must_read_or_refuse([&] { trireme::read_vectors(file, "/" + dataset, rows); });
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  MPI_Init(nullptr, nullptr);
  trireme::fuzz::limit_memory(trireme::fuzz::kMostMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto path = trireme::fuzz::as_file(bytes, size);
  must_read_or_refuse([&] {
    const trireme::hdf5::File file = trireme::hdf5::File::open(path);
    for (const std::string& group : file.groups()) {
      must_read_or_refuse([&] {
        const trireme::StoredMatrix stored = trireme::find_matrix(file, "/" + group);
        const trireme::MatrixOnRanks matrix = trireme::read_matrix(MPI_COMM_SELF, stored);
        const std::int64_t rows = matrix.slab.global_rows;
        read_vectors_of(file, {0, rows, rows});
      });
    }
    must_read_or_refuse([&] { trireme::find_matrix(file, "/none"); });
    read_vectors_of(file, {0, 4, 4});
  });
  return 0;
}
