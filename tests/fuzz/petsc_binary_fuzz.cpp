// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a PETSc binary file.
#include "fuzz/harness.hpp"
#include "io/petsc_binary.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  trireme::fuzz::limit_memory(trireme::fuzz::kMaxMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto path = trireme::fuzz::as_file(bytes, size);
  trireme::fuzz::must_read_or_refuse([&] {
    trireme::is_petsc_binary(path);
    trireme::fuzz::must_be_canonical(trireme::read_petsc_binary(path).matrix);
  });
  return 0;
}
