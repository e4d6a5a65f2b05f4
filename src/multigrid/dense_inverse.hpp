// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a small sparse matrix as a dense one, or its pseudo-inverse.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// X with A X A = A and X A X = X: the inverse where the rank is that of a regular matrix. For a
// symmetric A, X is symmetric to the last bit. For a symmetric semidefinite A it is positive
// semidefinite up to rounding.
struct DenseInverse {
  Array<double> values;  // rows x rows, row by row
  std::int64_t rows = 0;
  std::int64_t rank = 0;
};

// Gauss-Jordan elimination with complete pivoting of the matrix scaled by 1 / sqrt |a_ii| on both
// sides. Pivots below rows * 2^-48 of the largest one count as 0, and the remaining null vectors
// are projected out. 2 rows^3 flops. Throws Error{input} for a number that is not finite.
DenseInverse dense_inverse(const CsrView<double>& a);

}  // namespace trireme::multigrid
