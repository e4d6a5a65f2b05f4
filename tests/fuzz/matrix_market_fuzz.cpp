// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a Matrix Market file, plain or gzipped: a matrix, and right-hand sides.
#include "fuzz/harness.hpp"
#include "io/matrix_market.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  trireme::fuzz::limit_memory(trireme::fuzz::kMaxMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto path = trireme::fuzz::as_file(bytes, size);
  trireme::fuzz::must_read_or_refuse(
      [&] { trireme::fuzz::must_be_canonical(trireme::read_matrix_market(path).matrix); });
  trireme::fuzz::must_read_or_refuse([&] { trireme::read_matrix_market_vectors(path); });
  return 0;
}
