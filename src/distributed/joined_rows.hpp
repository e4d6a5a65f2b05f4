// SPDX-License-Identifier: BSD-3-Clause
// The rows of a rank as they were before split_rows() cut them into a local and a ghost block.
#pragma once

#include "distributed/distributed_matrix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// This rank's rows in the order in which distribute() took them, with global columns. Throws
// Error{resource} where their blocks, or the columns of all ranks, need more than 32 bits.
CsrMatrix<double> joined_rows(const DistributedMatrix& matrix);

}  // namespace trireme
