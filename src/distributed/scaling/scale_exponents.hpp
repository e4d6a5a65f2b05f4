// SPDX-License-Identifier: BSD-3-Clause
// Real exponents of two by which rows and columns are to be multiplied.
#pragma once

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme {

struct ScaleExponents {
  Array<double> rows, columns;  // of this rank
};

// Half of -log2 of the magnitude of the diagonal entry, for row and column alike. Where that is 0,
// the largest magnitude of the row stands for it, and an empty row has 0.
ScaleExponents exponents_of_diagonal(const DistributedMatrix& matrix);

// Continues from `begin` until the largest magnitudes of rows and of columns, as far as they are
// not 0, are within a factor of the square root of two of 1, or for a fixed number of sweeps (Ruiz,
// RAL-TR-2001-034). With `symmetric`, which the matrix and `begin` must be, rows and columns get
// the same exponents, bit for bit. Collective.
ScaleExponents equilibrated(const DistributedMatrix& matrix, bool symmetric, ScaleExponents begin);

}  // namespace trireme
