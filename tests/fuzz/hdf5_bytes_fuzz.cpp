// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as an HDF5 file.
#include <mpi.h>

#include "fuzz/harness.hpp"
#include "fuzz/read_hdf5.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  MPI_Init(nullptr, nullptr);
  trireme::fuzz::limit_memory(trireme::fuzz::kMaxMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  trireme::fuzz::read_all_of_hdf5(trireme::fuzz::as_file(bytes, size));
  return 0;
}
