// SPDX-License-Identifier: BSD-3-Clause
// The functors of the Lanczos method on D^-1/2 A_F D^-1/2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/split_mix.hpp"
#include "multigrid/set_up/filtered_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr int kLanczosSteps = 7;
// Where A_F is A, so that the smoother takes the same number for D^-1 A.
inline constexpr int kLanczosStepsForSmoother = 10;
// A vector that is smaller than this, relative to the bound of its norm, is rounding: the vectors
// before it span an invariant space.
inline constexpr double kLanczosNothing = 1e-10;
inline constexpr std::uint64_t kLanczosSeed = 15;

// The largest eigenvalue of the symmetric tridiagonal matrix of `alpha` and `beta`, by bisection.
double largest_eigenvalue(const std::vector<double>& alpha, const std::vector<double>& beta);

// The largest eigenvalue that the Lanczos matrix has seen, at most `bound`.
inline double radius_of(const std::vector<double>& alphas, const std::vector<double>& betas,
                        double bound) {
  if (alphas.empty()) return bound;
  const double estimate = largest_eigenvalue(alphas, betas);
  return estimate > 0 ? std::min(estimate, bound) : bound;
}

// The loop of the method where the host has the scalars. multiply(scalars) makes the next vector
// the present one, multiplies, and returns now . next; orthogonalise(factor) returns next . next.
// Before the first step that is `squared`.
template <class Multiply, class Orthogonalise>
double lanczos_radius(int steps, double bound, double squared, const Multiply& multiply,
                      const Orthogonalise& orthogonalise);

// The vectors keep the length that a step gives them. beta, the length of `now`, divides them where
// they are used.
struct LanczosBegin {
  const double* diagonal;
  std::int64_t first_row;
  double* scale;   // 1 / sqrt |d|, with the sign of d
  double* scaled;  // |scale| next
  double* last;
  double* next;

  // Returns a term of next . next.
  TRIREME_HD double operator()(std::int64_t i) const {
    scale[i] = std::copysign(1 / std::sqrt(std::abs(diagonal[i])), diagonal[i]);
    last[i] = 0;
    next[i] = to_unit(split_mix(static_cast<std::uint64_t>(first_row + i), kLanczosSeed)) - 0.5;
    scaled[i] = std::abs(scale[i]) * next[i];
    return next[i] * next[i];
  }
};

// Returns the sum of moduli in row i of D^-1 A_F.
struct FilteredRowSum {
  FilteredRows a;
  const double* diagonal;

  // For groups of lanes (one_thread.hpp).
  template <class Group>
  TRIREME_HD double operator()(std::int64_t i, const Group& group) const {
    const double own =
        a.total(i, group, [&](std::int32_t j, double value) { return j == i ? value : 0; });
    const double others = a.total(
        i, group, [&](std::int32_t j, double value) { return j == i ? 0 : std::abs(value); });
    return (std::abs(own) + others) / std::abs(diagonal[i]);
  }
};

// The scalars of a step: beta is the length of `now`, and `before` that of `last`.
struct LanczosScalars {
  double inverse, ratio;
  TRIREME_HD static LanczosScalars of(double beta, double before) {
    return {1 / beta, beta / before};
  }
};

// next = D^-1/2 A_F D^-1/2 now / beta - beta * last / before
struct LanczosMultiply {
  const double* scale;
  const double* last;
  double* next;

  // `product` is that of row i of A_F with `scaled`.
  TRIREME_HD void operator()(std::int64_t i, double product, const LanczosScalars& s) const {
    next[i] = product * scale[i] * s.inverse - s.ratio * last[i];
  }
};

// Returns a term of now . next.
struct LanczosDot {
  const double* now;
  const double* next;
  TRIREME_HD double operator()(std::int64_t i) const { return now[i] * next[i]; }
};

// next -= alpha * now / beta. Returns a term of next . next.
struct LanczosOrthogonalise {
  const double* scale;
  const double* now;
  double factor;  // alpha / beta
  double* next;
  double* scaled;

  TRIREME_HD double operator()(std::int64_t i) const {
    next[i] -= factor * now[i];
    scaled[i] = std::abs(scale[i]) * next[i];
    return next[i] * next[i];
  }
};

template <class Multiply, class Orthogonalise>
double lanczos_radius(int steps, double bound, double squared, const Multiply& multiply,
                      const Orthogonalise& orthogonalise) {
  std::vector<double> alphas, betas;
  double beta = std::sqrt(squared), last_beta = beta;
  for (int step = 0; step < steps && beta > kLanczosNothing * bound; ++step) {
    if (step > 0) betas.push_back(beta);
    const LanczosScalars scalars = LanczosScalars::of(beta, last_beta);
    const double alpha = scalars.inverse * multiply(scalars);
    alphas.push_back(alpha);
    last_beta = beta;
    beta = std::sqrt(orthogonalise(alpha * scalars.inverse));
  }
  return radius_of(alphas, betas, bound);
}

}  // namespace trireme::multigrid
