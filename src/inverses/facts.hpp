// SPDX-License-Identifier: BSD-3-Clause
// What an approximate inverse is made of, for readers.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::inverses {

// Of all ranks together.
struct InverseFacts {
  std::int64_t nnz = 0;                      // of G or M
  std::string kernel, kernel_of_transposed;  // of G and G^T, or of M and empty
  bool in_fp32 = false;
  bool made_on_gpu = false;
  double seconds = 0;  // of the last set-up, of this rank
};

}  // namespace trireme::inverses
