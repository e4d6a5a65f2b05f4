// SPDX-License-Identifier: BSD-3-Clause
// The elimination of a symmetric positive semidefinite matrix, whose pivots stay on the diagonal.
#pragma once

#include "multigrid/set_up/dense_inverse.hpp"

namespace trireme::multigrid {

// Does what eliminate() does, in rows^3 flops in place of twice as many, with the greatest number
// on the diagonal as the next pivot: rows and cols are equal. Only the lower triangle is read.
// Returns false, and leaves the matrix as it is, where the matrix turns out not to be positive
// semidefinite.
bool eliminate_semidefinite(Elimination& elimination);

}  // namespace trireme::multigrid
