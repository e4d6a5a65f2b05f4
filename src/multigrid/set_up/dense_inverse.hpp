// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a small sparse matrix as a dense one, or its pseudo-inverse.
#pragma once

#include <cstdint>
#include <vector>

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

// A dense matrix, row by row, while it is inverted. After r steps, position k of the first r has
// row rows[k] and column cols[k] of the matrix; with M = [B C; D E] in this order, `values` holds
//
//   [ B^-1      B^-1 C         ]
//   [ -D B^-1   E - D B^-1 C   ]
struct Elimination {
  std::int64_t n = 0;
  Array<double> values;
  std::vector<std::int64_t> rows, cols;
  std::int64_t rank = 0;  // steps that have been done
  double* row(std::int64_t i) { return values.data() + i * n; }
};

// The three parts of dense_inverse(), of which the second one is most of the work.
struct ScaledMatrix {
  Elimination elimination;
  std::vector<double> scale;
  bool symmetric = false;
};
ScaledMatrix scaled_dense(const CsrView<double>& a);
void eliminate(Elimination& elimination);
DenseInverse inverse_from(ScaledMatrix&& eliminated);

// Gauss-Jordan elimination with complete pivoting of the matrix scaled by 1 / sqrt |a_ii| on both
// sides. Pivots below rows * 2^-48 of the largest one count as 0, and the remaining null vectors
// are projected out. 2 rows^3 flops, or half of them where the matrix is symmetric and positive
// semidefinite (semidefinite_elimination.hpp). Throws Error{input} for a number that is not finite.
inline constexpr double kZeroPivot = 0x1p-48;  // per row, relative to the largest pivot
DenseInverse dense_inverse(const CsrView<double>& a);

}  // namespace trireme::multigrid
