// SPDX-License-Identifier: BSD-3-Clause
// The one place where `kernel: auto` and `device: auto` are decided.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/registry.hpp"

namespace trireme {

// What the rule looks at: of the whole matrix, the same on every rank.
struct MatrixTraits {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;         // of the rank with most
  std::int64_t longest = 0;     // nonzeros of the longest row
  bool exact_in_float = false;  // FP32 holds every value
};

// The rule follows the tables of docs/performance/; nothing is measured.
//   cpu:  albus. It balances nonzeros between threads whatever the row lengths, and its layout is
//         built in the time of a few products.
//   cuda: under 1 M nonzeros on a GPU, where launching and filling it decide, csr-vector, but teb
//         where the longest row is over 8 times the mean; above, sell where the longest row is
//         within 4 times the mean and values are stored in FP32 (all of them exact, or mixed
//         precision), else dasp.
// Where this build lacks that kernel for the device and precision, the next of the list.
std::string_view choose_kernel(Device device, const MatrixTraits& traits,
                               Precision precision = Precision::full);

// cuda where every rank has a usable GPU and this build has a kernel for it, else cpu.
Device choose_device(bool gpu_on_every_rank);

}  // namespace trireme
