// SPDX-License-Identifier: BSD-3-Clause
// The functors of smoother_numbers.hpp: diagonals, blocks and row sums.
#pragma once

#include <cmath>
#include <cstdint>

#include "multigrid/set_up/product_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// x - x is 0 for finite x only.
TRIREME_HD bool is_finite(double x) { return x - x == 0; }

// Returns the sum of |a_ij| over row i.
struct RowModuli {
  MatrixPointers local;
  const std::int32_t* ghost_ptr;  // null without ghosts
  const double* ghost_values;

  TRIREME_HD double operator()(std::int64_t i) const { return with_others(i, 0, false); }
  // `sum` and the moduli of the row, with or without those on the diagonal.
  TRIREME_HD double with_others(std::int64_t i, double sum, bool others_only) const {
    for (std::int32_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k)
      if (!others_only || local.col_idx[k] != i) sum += std::abs(local.values[k]);
    if (ghost_ptr)
      for (std::int32_t k = ghost_ptr[i]; k < ghost_ptr[i + 1]; ++k)
        sum += std::abs(ghost_values[k]);
    return sum;
  }
};

// Turns the inverse of the diagonal into that of the l1-Jacobi smoother.
struct InvertL1Diagonal {
  RowModuli moduli;
  double* inverse;

  TRIREME_HD void operator()(std::int64_t i) const {
    inverse[i] = 1 / moduli.with_others(i, 1 / inverse[i], true);
  }
};

// Inverts the dense blocks in place by Gauss-Jordan elimination without pivoting, which is stable
// for symmetric positive definite blocks. False for a block that has no positive pivot.
TRIREME_HD bool invert_block(double* block, std::int64_t size) {
  for (std::int64_t p = 0; p < size; ++p) {
    const double pivot = block[p * size + p];
    if (!(pivot > 0) || !is_finite(1 / pivot)) return false;
    const double inverse = 1 / pivot;
    block[p * size + p] = 1;
    for (std::int64_t j = 0; j < size; ++j) block[p * size + j] *= inverse;
    for (std::int64_t i = 0; i < size; ++i) {
      if (i == p) continue;
      const double factor = block[i * size + p];
      block[i * size + p] = 0;
      for (std::int64_t j = 0; j < size; ++j) block[i * size + j] -= factor * block[p * size + j];
    }
  }
  return true;
}

// Inverts the diagonal block of a node. False for a block that is not positive definite.
struct InvertNodeBlock {
  MatrixPointers local;
  std::int64_t size;
  double* inverse;  // size numbers per row, 0 before

  TRIREME_HD bool operator()(std::int64_t node) const {
    const std::int64_t first = node * size;
    double* const block = inverse + first * size;
    for (std::int64_t i = first; i < first + size; ++i)
      for (std::int32_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) {
        const std::int64_t column = local.col_idx[k] - first;
        if (column >= 0 && column < size) block[(i - first) * size + column] += local.values[k];
      }
    const bool is_definite = invert_block(block, size);
    for (std::int64_t i = 0; i < size; ++i)  // the same bits on both sides of the diagonal
      for (std::int64_t j = 0; j < i; ++j)
        block[i * size + j] = block[j * size + i] =
            0.5 * (block[i * size + j] + block[j * size + i]);
    return is_definite;
  }
};

}  // namespace trireme::multigrid
