// SPDX-License-Identifier: BSD-3-Clause
// How CG goes on from the direction that a stopped solve has left.
#pragma once

#include "solvers/methods/cg_steps.hpp"

namespace trireme::solvers {

// p.Ap of the last direction.
TRIREME_HD double& last_curvature(State& s) { return s.scalar[1]; }

// z = D^-1 r; sums {r.z, norm term}.
template <class T>
struct Precondition {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const T* r;
  T* z;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, z, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], 0, inverse[i], norm.rows[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.z = static_cast<T>(row.inverse * row.r);
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { z[i] = static_cast<T>(row.z); }
};

// From {r.p, p.Ap}: alpha = r.p / p.Ap. This is rho / p.Ap if r and p are those that the loop had.
struct GoOnStepLength {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    close_iteration(s);
    if (!live(s)) return;
    check_curvature(s, sum[1]);
    if (!(sum[0] * s.rho > 0)) abandon_for_new_start(s);  // p was made for another r
    last_curvature(s) = sum[1];
    s.alpha = sum[0] / sum[1];
  }
};

// From {r.z, norm term, z.Ap}: beta = - z.Ap / p.Ap. This is rho' / rho if the loop has not ended.
// The pass with x += alpha p still follows.
struct GoOnImprove {
  static constexpr bool ends_iteration = true;
  static constexpr bool has_tail = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (live(s)) cg_improve(s, sum[0], sum[1], -sum[2] / last_curvature(s));
  }
};

// The rest of first_iteration(), from r, z and rho.
TRIREME_RUNS_EXECUTOR
template <class Exec, class M, class T>
TRIREME_HD void first_step(Exec& e, const SystemVectors& v, const M& m, T* r, T* z, const T* p,
                           T* q) {
  e.pass(DotOf<T>{r, p});
  e.product_and_dot(p, q, GoOnStepLength{});                    // q = A p, alpha = r.p / p.q
  e.pass(CgResidual<false, T>{r, q, DiagonalOf<T>{}, v.norm});  // r -= alpha q
  e.forget_sums();
  if constexpr (M::pointwise) {
    e.pass(Precondition<T>{r, z, pointwise_part<T>(m), v.norm});  // z = D^-1 r
  } else {
    m.apply(e, r, z);
    by_weights(e, v.norm, [&](auto weighed) {
      e.pass(ResidualNorms<weighed.value, T>{r, z, v.norm});
    });
  }
  e.pass(DotOf<T>{z, q}, GoOnImprove{});  // rho' = r.z, beta = - z.q / p.q
}

// One iteration that stands in place of a start. Its formulas hold for any direction p that a
// stopped solve has left: they make r orthogonal to p, and the next direction conjugate to p. From
// there the formulas of the loop hold. (After rounding, or with an inexact product, p does not
// exactly fit r = b - A x.) `q` becomes A p, and z becomes M^-1 r.
TRIREME_RUNS_EXECUTOR
template <class Exec, class M>
TRIREME_HD void first_iteration(Exec& e, const SystemVectors& v, const M& m, double* r, double* z,
                                const double* p, double* q) {
  true_residual(e, v, m, false, r, z, q);  // r = b - A x, z = M^-1 r
  e.finish(CgGoOn{});                      // rho = r.z
  first_step(e, v, m, r, z, p, q);
}

}  // namespace trireme::solvers
