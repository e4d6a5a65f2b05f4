// SPDX-License-Identifier: BSD-3-Clause
// Any text as a case.yaml.
#include <string>

#include "config/read_case.hpp"
#include "fuzz/harness.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  trireme::fuzz::limit_memory(trireme::fuzz::kMaxMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  trireme::fuzz::must_read_or_refuse([&] { trireme::parse_case(text, "case.yaml"); });
  return 0;
}
