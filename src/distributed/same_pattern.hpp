// SPDX-License-Identifier: BSD-3-Clause
// Whether another slab has the pattern of a matrix that is split already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Compares this rank's rows and every column. The answer is the same on every rank. Collective.
bool same_pattern(const DistributedMatrix& matrix, const RowSlab& slab,
                  std::span<const std::int64_t> row_starts);

}  // namespace trireme
