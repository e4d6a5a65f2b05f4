// SPDX-License-Identifier: BSD-3-Clause
// The sizes of the rows of a Mat.
#pragma once

#include <petscmat.h>

#include "distributed/operator.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme {

// `op` is operator_of(mat), which may be null: then the Mat tells if it is an AIJ, and the rows of
// any other Mat count as alike. Collective.
RowSizes row_sizes_of(Mat mat, const Operator* op);

}  // namespace trireme
