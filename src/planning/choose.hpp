// SPDX-License-Identifier: BSD-3-Clause
// Decides `kernel: auto` and `device: auto`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/registry.hpp"

namespace trireme {

// The properties of a matrix that decide the kernel. They are the same on every rank.
struct MatrixTraits {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;         // the maximum over the ranks
  std::int64_t longest = 0;     // nonzeros of the longest row
  bool exact_in_float = false;  // FP32 represents every value exactly
  bool few_patterns = false;    // see has_few_row_patterns(), on every rank
  // See AccessProfile: in the order given, and gathered. Only the cost model needs them.
  double sectors_per_nonzero = 0;
  double clustered_sectors = 0;
  // The part of the nonzeros that is in columns of other ranks, the maximum over the ranks.
  double ghost_part = 0;
};

// The kernel with which a run begins, before anything is measured. Returns the name of a registered
// kernel. The rules follow the tables of docs/performance/.
//   cpu   albus, because it balances nonzeros between threads for any row lengths and builds its
//         layout in the time of a few products.
//   cuda  With fewer than 1 million nonzeros per GPU, where launches and idle multiprocessors
//         decide: teb where the longest row exceeds 8 times the mean, csr-vector otherwise.
//         With more nonzeros: sell where rows have 256 nonzeros and more, and the longest is within
//         8 times the mean; sell where the longest row is within 4 times the mean, and the rows
//         have few patterns or the values are stored in FP32 (because that is exact, or in mixed
//         precision); dasp otherwise.
// Where this build lacks the preferred kernel for the device and precision, the next one in the
// list of choose.cpp is taken. Throws Error{resource} where the build has none of them.
std::string_view choose_kernel(Device device, const MatrixTraits& traits,
                               Precision precision = Precision::full);

// The kernels that choose_kernel() prefers for some matrix, each once.
std::vector<std::string_view> kernels_to_begin_with(Device device);

// Returns cuda where every rank has a usable GPU and this build has a CUDA kernel, and cpu
// otherwise.
Device choose_device(bool gpu_on_every_rank);

}  // namespace trireme
