// SPDX-License-Identifier: BSD-3-Clause
// The functors of relaxed constants (relaxed_constants.hpp).
#pragma once

#include <cmath>
#include <cstdint>

#include "multigrid/set_up/product_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// A row whose sum is above this part of its diagonal is one that constants do not serve.
inline constexpr double kSmallSum = 0.05;

// Whether columns i and j are the same unknown of their nodes.
TRIREME_HD bool same_unknown(std::int64_t i, std::int32_t j, std::int32_t size) {
  return size == 1 || i % size == j % size;
}

// Whether the sum of row i, over its own unknown, is not small.
struct SumIsNotSmall {
  MatrixPointers a;
  const double* diagonal;
  std::int32_t size;

  // For groups of lanes (one_thread.hpp); of several lanes, one returns it.
  template <class Group>
  TRIREME_HD double operator()(std::int64_t i, const Group& group) const {
    const std::int32_t first = a.row_ptr[i];
    const double sum = group.total(a.row_ptr[i + 1] - first, [&](std::int64_t t) {
      const std::int32_t k = first + static_cast<std::int32_t>(t);
      return same_unknown(i, a.col_idx[k], size) ? a.values[k] : 0;
    });
    return group.rank() == 0 && std::abs(sum) > kSmallSum * std::abs(diagonal[i]) ? 1 : 0;
  }
};

// to[k] = a_ij of row i in the columns of its own unknown, 0 in others.
struct KeepOwnUnknown {
  MatrixPointers a;
  std::int32_t size;
  double* to;

  TRIREME_HD void operator()(std::int64_t i) const {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      to[k] = same_unknown(i, a.col_idx[k], size) ? a.values[k] : 0;
  }
};

// next = x - weight D^-1 A x
struct Relax {
  const double* diagonal;
  const double* x;
  double weight;
  double* next;

  // `product` is that of row i of A and x.
  TRIREME_HD void operator()(std::int64_t i, double product) const {
    next[i] = x[i] - weight / diagonal[i] * product;
  }
};

// Terms of the squared norms of x, by D and by I.
struct EnergyTerm {
  const double* diagonal;
  const double* x;
  TRIREME_HD double operator()(std::int64_t i) const { return std::abs(diagonal[i]) * x[i] * x[i]; }
};
struct SquareTerm {
  const double* x;
  TRIREME_HD double operator()(std::int64_t i) const { return x[i] * x[i]; }
};

// Gives x a root mean square of 1, and none of its numbers a modulus below `least`.
struct Normalise {
  double root_mean_square, least;
  double* x;
  TRIREME_HD void operator()(std::int64_t i) const {
    const double value = x[i] / root_mean_square;
    x[i] = std::abs(value) < least ? std::copysign(least, value) : value;
  }
};

// to = X A X
struct ScaleBothSides {
  MatrixPointers a;
  const double* x;  // by column
  double* to;
  TRIREME_HD void operator()(std::int64_t i) const {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      to[k] = x[i] * a.values[k] * x[a.col_idx[k]];
  }
};

// values of X P
struct ScaleRow {
  const std::int32_t* row_ptr;
  const double* x;
  double* values;
  TRIREME_HD void operator()(std::int64_t i) const {
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) values[k] *= x[i];
  }
};

}  // namespace trireme::multigrid
