// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Jordan elimination of a matrix that fits into the shared memory of a cluster of thread blocks.
#pragma once

#include <cstdint>

#include "device/stream.hpp"

namespace trireme::multigrid {

struct EliminationOutcome {
  std::int64_t rank;  // steps that have been done
};

// Eliminates the n x n matrix `values` in GPU memory in place, and writes the rows and columns of the
// matrix in the order of the pivots. Returns false, and does nothing, where the GPU has no clusters
// or the matrix is too large for one.
bool eliminate_in_cluster(std::int64_t n, double* values, std::int64_t* rows, std::int64_t* cols,
                          EliminationOutcome* outcome, StreamRef stream);

}  // namespace trireme::multigrid
