// SPDX-License-Identifier: BSD-3-Clause
// What an approximate inverse is made of, for readers.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::inverses {

// Of all ranks together.
struct FsaiFacts {
  std::int64_t nnz = 0;  // of G
  std::string kernel, kernel_of_transposed;
  bool in_fp32 = false;
  bool made_on_gpu = false;
  double seconds = 0;  // of the last set-up, of this rank
};

}  // namespace trireme::inverses
