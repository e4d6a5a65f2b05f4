// SPDX-License-Identifier: BSD-3-Clause
// The sizes of the rows of a Mat.
#pragma once

#include <petscmat.h>

#include "distributed/operator.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme {

// Of the rows of `amat`, by its operator `op`, or by PETSc where that is null. Where `amat` has no
// entries that PETSc could look at, such as a shell, `pmat` stands for it. The rows count as alike
// where that has none either. Collective.
RowSizes row_sizes_of(Mat amat, const Operator* op, Mat pmat);

}  // namespace trireme
