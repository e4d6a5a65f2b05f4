// SPDX-License-Identifier: BSD-3-Clause
// The spectral radius of D^-1 A_F by the Lanczos method (Saad, Iterative Methods for Sparse Linear
// Systems, 2003, section 6.6), on D^-1/2 A_F D^-1/2.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/split_mix.hpp"
#include "multigrid/filtered_row.hpp"
#include "multigrid/host_place.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kSteps = 7;
// A vector that is smaller than this, relative to the bound of its norm, is rounding: the vectors
// before it span an invariant space.
constexpr double kNothing = 1e-10;
constexpr std::uint64_t kSeed = 15;

// Returns the sum of moduli in row i of D^-1 A_F.
struct RowSum {
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
struct Multiply {
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
struct Orthogonalise {
  const double* now;
  double alpha;
  double* next;

  TRIREME_HD double operator()(std::int64_t i) const {
    next[i] -= alpha * now[i];
    return next[i] * next[i];
  }
};

struct Normalise {
  const double* scale;
  double factor;
  double* x;
  double* scaled;

  TRIREME_HD void operator()(std::int64_t i) const {
    x[i] *= factor;
    scaled[i] = std::abs(scale[i]) * x[i];
  }
};

// The largest eigenvalue of the symmetric tridiagonal matrix of `alpha` and `beta`, by bisection.
double largest_eigenvalue(const std::vector<double>& alpha, const std::vector<double>& beta) {
  double low = alpha[0], high = alpha[0];
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    const double radius =
        (k > 0 ? std::abs(beta[k - 1]) : 0) + (k + 1 < alpha.size() ? std::abs(beta[k]) : 0);
    low = std::max(low, alpha[k]);
    high = std::max(high, alpha[k] + radius);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    // Whether all pivots of T - middle I are negative, so that no eigenvalue is larger.
    bool none_above = true;
    double pivot = alpha[0] - middle;
    for (std::size_t k = 1; none_above; ++k) {
      none_above = pivot < 0;
      if (k == alpha.size()) break;
      pivot = alpha[k] - middle - beta[k - 1] * beta[k - 1] / pivot;
    }
    (none_above ? high : low) = middle;
  }
  return high;
}

}  // namespace

double filtered_spectral_radius(const FilteredMatrix& f, std::span<const double> diagonal,
                                const NodeExchange& ghosts) {
  const std::int64_t rows = f.a.local.rows;
  const FilteredRows a(f);
  const double bound = ghosts.max(HostPlace::maximum(rows, 0.0, RowSum{a, diagonal.data()}));
  if (bound == 0 || !std::isfinite(bound)) return bound;
  Array<double> scale(rows), scaled(f.a.local.cols), last(rows), now(rows), next(rows);
  HostPlace::for_each(rows, [&](std::int64_t i) {
    scale[i] = std::copysign(1 / std::sqrt(std::abs(diagonal[i])), diagonal[i]);
    last[i] = now[i] = 0;
    next[i] = to_unit(split_mix(static_cast<std::uint64_t>(f.a.first_row + i), kSeed)) - 0.5;
  });
  std::vector<double> alphas, betas;
  const auto sum = [&](const auto& terms) { return ghosts.sum(HostPlace::sum(rows, terms)); };
  double beta = std::sqrt(sum(Orthogonalise{now.data(), 0, next.data()}));
  for (int step = 0; step < kSteps && beta > kNothing * bound; ++step) {
    if (step > 0) betas.push_back(beta);
    std::swap(last, now);
    std::swap(now, next);
    HostPlace::for_each(rows, Normalise{scale.data(), 1 / beta, now.data(), scaled.data()});
    ghosts.fetch(std::span(scaled), f.block_size);
    const double alpha = sum(Multiply{a, scale.data(), scaled.data(), now.data(), last.data(),
                                      step > 0 ? beta : 0, next.data()});
    alphas.push_back(alpha);
    beta = std::sqrt(sum(Orthogonalise{now.data(), alpha, next.data()}));
  }
  if (alphas.empty()) return bound;
  const double estimate = largest_eigenvalue(alphas, betas);
  return estimate > 0 ? std::min(estimate, bound) : bound;
}

}  // namespace trireme::multigrid
