// SPDX-License-Identifier: BSD-3-Clause
// The functors of the Lanczos method on D^-1/2 A_F D^-1/2.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/split_mix.hpp"
#include "multigrid/filtered_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr int kLanczosSteps = 7;
// A vector that is smaller than this, relative to the bound of its norm, is rounding: the vectors
// before it span an invariant space.
inline constexpr double kLanczosNothing = 1e-10;
inline constexpr std::uint64_t kLanczosSeed = 15;

// The largest eigenvalue of the symmetric tridiagonal matrix of `alpha` and `beta`, by bisection.
double largest_eigenvalue(const std::vector<double>& alpha, const std::vector<double>& beta);

struct LanczosBegin {
  const double* diagonal;
  std::int64_t first_row;
  double* scale;
  double* last;
  double* now;
  double* next;

  TRIREME_HD void operator()(std::int64_t i) const {
    scale[i] = std::copysign(1 / std::sqrt(std::abs(diagonal[i])), diagonal[i]);
    last[i] = now[i] = 0;
    next[i] = to_unit(split_mix(static_cast<std::uint64_t>(first_row + i), kLanczosSeed)) - 0.5;
  }
};

// Returns the sum of moduli in row i of D^-1 A_F.
struct FilteredRowSum {
  FilteredRows a;
  const double* diagonal;

  TRIREME_HD double operator()(std::int64_t i) const {
    double own = 0, others = 0;
    a.for_entries(i, [&](std::int32_t j, double value) {
      if (j == i)
        own += value;
      else
        others += std::abs(value);
    });
    return (std::abs(own) + others) / std::abs(diagonal[i]);
  }
};

// next = D^-1/2 A_F D^-1/2 now - beta * last. Returns a term of now . next.
struct LanczosMultiply {
  FilteredRows a;
  const double* scale;   // 1 / sqrt |d|, with the sign of d
  const double* scaled;  // |scale| now
  const double* now;
  const double* last;
  double beta;
  double* next;

  TRIREME_HD double operator()(std::int64_t i) const {
    double sum = 0;
    a.for_entries(i, [&](std::int32_t j, double value) { sum += value * scaled[j]; });
    next[i] = sum * scale[i] - beta * last[i];
    return now[i] * next[i];
  }
};

// next -= alpha * now. Returns a term of next . next.
struct LanczosOrthogonalise {
  const double* now;
  double alpha;
  double* next;

  TRIREME_HD double operator()(std::int64_t i) const {
    next[i] -= alpha * now[i];
    return next[i] * next[i];
  }
};

struct LanczosNormalise {
  const double* scale;
  double factor;
  double* x;
  double* scaled;

  TRIREME_HD void operator()(std::int64_t i) const {
    x[i] *= factor;
    scaled[i] = std::abs(scale[i]) * x[i];
  }
};

}  // namespace trireme::multigrid
