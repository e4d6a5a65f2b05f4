// SPDX-License-Identifier: BSD-3-Clause
// A sequence of matrices of one pattern: diffusion whose coefficient changes in space and time.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The values of step `step` of a period of `steps` steps, in the order of the slab. Each
// off-diagonal entry is multiplied by the mean of the coefficients of its row and its column, and
// the diagonal follows, so that the row sum is that of the slab times the coefficient of the row.
// The coefficients are between 0.5 and 1.5, a wave over the row numbers that travels once around in
// a period. The result is symmetric where the slab is, and positive definite where the slab is
// symmetric, has no positive off-diagonal entry, and is diagonally dominant.
Array<double> varied_values(const RowSlab& slab, std::int64_t step, std::int64_t steps);

}  // namespace trireme
