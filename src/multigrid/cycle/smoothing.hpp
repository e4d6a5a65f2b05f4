// SPDX-License-Identifier: BSD-3-Clause
// The smoothers of a level, as an algorithm for an executor. Every smoother is a polynomial of W A
// applied to W b, where W is the inverse of the diagonal, of the l1 diagonal or of dense diagonal
// blocks:
//
//   d = f_k d + g_k W (b - A x),  x += d       for k = 0 .. degree - 1, with f_0 = 0
//
// Such a polynomial is its own adjoint, so that the same smoothing before and after the correction
// of the coarse level keeps a cycle symmetric.
//
// Values moved per row beside the products, with a diagonal W: from x = 0 the first step moves 3
// and needs no product, and the second and last one 5. From a given x the first step of two moves
// 6, and the second and last one 6.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr int kMaxDegree = 32;

// The coefficients of the steps.
struct Smoothing {
  std::int32_t degree = 0;
  double f[kMaxDegree] = {};
  double g[kMaxDegree] = {};
};

// Chebyshev polynomials of the first kind for the interval [low, high] (Saad, Iterative Methods,
// algorithm 12.1; Adams, Brezina, Hu and Tuminaro, J. Comput. Phys. 188, 2003).
Smoothing chebyshev_smoothing(std::int32_t degree, double low, double high);
// `degree` steps of weighted Jacobi.
Smoothing jacobi_smoothing(std::int32_t degree, double weight);

// W as a diagonal. b - q is the residual; a null q stands for zeros.
struct InverseDiagonal {
  const double* inverse;
  TRIREME_HD double operator()(std::int64_t i, const double* b) const { return inverse[i] * b[i]; }
  TRIREME_HD double operator()(std::int64_t i, const double* b, const double* q) const {
    return inverse[i] * (b[i] - q[i]);
  }
};

// W as dense blocks of `size` consecutive rows: inverse[i * size + k] is the entry of row i in the
// column k of its block.
struct InverseBlocks {
  const double* inverse;
  std::int64_t size;
  TRIREME_HD double operator()(std::int64_t i, const double* b) const {
    const std::int64_t first = i - i % size;
    double sum = 0;
    for (std::int64_t k = 0; k < size; ++k) sum += inverse[i * size + k] * b[first + k];
    return sum;
  }
  TRIREME_HD double operator()(std::int64_t i, const double* b, const double* q) const {
    const std::int64_t first = i - i % size;
    double sum = 0;
    for (std::int64_t k = 0; k < size; ++k)
      sum += inverse[i * size + k] * (b[first + k] - q[first + k]);
    return sum;
  }
};

// x = g W b: the first step from x = 0, whose direction is x itself.
template <class Inverse>
struct SmoothFromZero {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  Inverse w;
  const double* b;
  double* x;
  double g;

  struct Row {
    double x;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {g * w(i, b)}; }
  TRIREME_HD void update(Row&, const solvers::State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { x[i] = row.x; }
};

// d = f last + g W (b - q), x += d, where `last` is the direction of the step before (not read by
// the first step), and d is not written where no step reads it.
template <class Inverse, bool first, bool final>
struct SmoothStep {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  Inverse w;
  const double* b;
  const double* q;
  const double* last;
  double* d;
  double* x;
  double f, g;

  struct Row {
    double d, x;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double step = g * w(i, b, q);
    return {first ? step : f * last[i] + step, x[i]};
  }
  TRIREME_HD void update(Row& row, const solvers::State&, double*) const { row.x += row.d; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    if constexpr (!final) d[i] = row.d;
    x[i] = row.x;
  }
};

// The vectors of a smoothing. `d` and `q` are work vectors.
struct SmoothedVectors {
  const double* b;
  double* x;
  double* d;
  double* q;
};

// One step from a given x. e.product(x, q) is q = A x.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Inverse>
TRIREME_HD void smooth_step(Exec& e, const Smoothing& s, const Inverse& w, const SmoothedVectors& v,
                            const double* last, int k) {
  e.product(v.x, v.q);
  const bool final = k + 1 == s.degree || s.f[k + 1] == 0;
  const double f = s.f[k], g = s.g[k];
  if (!last && final)
    e.pass(SmoothStep<Inverse, true, true>{w, v.b, v.q, last, v.d, v.x, f, g});
  else if (!last)
    e.pass(SmoothStep<Inverse, true, false>{w, v.b, v.q, last, v.d, v.x, f, g});
  else if (final)
    e.pass(SmoothStep<Inverse, false, true>{w, v.b, v.q, last, v.d, v.x, f, g});
  else
    e.pass(SmoothStep<Inverse, false, false>{w, v.b, v.q, last, v.d, v.x, f, g});
}

// Improves x, which is not read where `from_zero`. Costs `degree` products, one less from zero.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Inverse>
TRIREME_HD void smooth(Exec& e, const Smoothing& s, const Inverse& w, const SmoothedVectors& v,
                       bool from_zero) {
  const double* last = nullptr;
  int k = 0;
  if (from_zero) {
    e.pass(SmoothFromZero<Inverse>{w, v.b, v.x, s.g[0]});
    last = v.x;
    k = 1;
  }
  for (; k < s.degree; ++k) {
    smooth_step(e, s, w, v, s.f[k] == 0 ? nullptr : last, k);
    last = v.d;
  }
}

}  // namespace trireme::multigrid
