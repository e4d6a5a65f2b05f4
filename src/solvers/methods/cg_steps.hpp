// SPDX-License-Identifier: BSD-3-Clause
// Passes and steps that the forms of CG share.
#pragma once

#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

// The first p.Ap of a solve, whose sign must never change.
TRIREME_HD double& first_curvature(State& s) { return s.scalar[0]; }
// PETSc's rule: p.Ap must be nonzero and never change its sign.
TRIREME_HD void check_curvature(State& s, double curvature) {
  if (!is_finite(curvature)) return abandon(s, Reason::not_finite);
  if (first_curvature(s) == 0) first_curvature(s) = curvature;
  if (curvature == 0 || (curvature < 0) != (first_curvature(s) < 0))
    abandon(s, Reason::indefinite_matrix);
}

// r -= alpha q; sums {r.D^-1 r, norm term}. Moves 4n values (3n without a diagonal array).
template <bool weighed, class T = double>
struct CgResidual {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  T* r;
  const T* q;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    T r, q, inverse;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {r[i], q[i], inverse[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.r = static_cast<T>(wide(row.r) - s.alpha * wide(row.q));
    const auto residual = wide(row.r), preconditioned = wide(row.inverse) * residual;
    sum[0] += sum_of(residual * preconditioned);
    sum[1] += row.weight.term(residual, preconditioned, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { r[i] = row.r; }
  TRIREME_HD auto in_fours() const requires(std::is_same_v<T, float> && !weighed) {
    return CgResidual<false, Four<float>>{solvers::in_fours(r), solvers::in_fours(q),
                                          solvers::in_fours(inverse), norm};
  }
};

// From {r.z, norm term} of a true residual, with which a solve begins or goes on.
template <Entry entry>
struct CgEnter {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    enter<entry>(s, chosen_norm(s, sum[0], sum[1]));
    if (running(s)) check_preconditioner(s, s.rho, s.rho);
  }
};
using CgBegin = CgEnter<Entry::begin>;
using CgGoOn = CgEnter<Entry::go_on>;

// The end of an iteration, whose pass with x += alpha p still follows.
TRIREME_HD void cg_improve(State& s, double rho, double squared, double beta) {
  const double last = s.rho;
  s.rho = rho;
  s.beta = beta;
  ++s.iterations;
  judge(s, chosen_norm(s, rho, squared));
  if (running(s)) check_preconditioner(s, rho, last);
}

}  // namespace trireme::solvers
