// SPDX-License-Identifier: BSD-3-Clause
// Whether the rows of a matrix look alike, as those of regular grids do, so that `sell` stores no
// columns (kernels/sell/layout.hpp).
#pragma once

#include "sparse/csr.hpp"

namespace trireme {

// Estimated from 32 groups of 256 rows at evenly spaced places, which takes less than a
// millisecond. Rows that are longer than those of the slices of `sell` are left out. The result
// depends on the pattern of the matrix alone.
bool has_few_row_patterns(const CsrView<double>& matrix);

}  // namespace trireme
