// SPDX-License-Identifier: BSD-3-Clause
// Whether a distributed matrix looks symmetric.
#pragma once

#include "distributed/distributed_matrix.hpp"

namespace trireme {

// By skew_sums.hpp. A GPU that has the matrix looks at the local block. Collective.
bool looks_symmetric(const DistributedMatrix& matrix);

}  // namespace trireme
