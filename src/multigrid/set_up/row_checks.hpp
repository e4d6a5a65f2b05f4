// SPDX-License-Identifier: BSD-3-Clause
// The diagonal of a level, and what the set-up demands of its values.
#pragma once

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"

namespace trireme::multigrid {

// Returns a_ii of each local row; duplicates are added up. Throws Error{input} for a row whose
// diagonal entry is 0 or missing, and for a value that is not finite.
Array<double> checked_diagonal(const LocalRows& a);

// Throws Error{input} for the first row whose entries are all zero, or that has none. A matrix that
// its dense inverse solves needs no more than that.
void require_nonzero_rows(const LocalRows& a);

}  // namespace trireme::multigrid
