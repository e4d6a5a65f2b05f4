// SPDX-License-Identifier: BSD-3-Clause
// Element-wise passes and checks that several methods use.
#pragma once

#include "solvers/methods/method.hpp"
#include "solvers/preconditioners/diagonal.hpp"

namespace trireme::solvers {

// What a true residual is the start of: a solve, or the rest of a solve that was stopped.
enum class Entry { begin, go_on };
template <Entry entry>
TRIREME_HD void enter(State& s, double norm) {
  if constexpr (entry == Entry::begin)
    begin(s, norm);
  else
    go_on(s, norm);
}

// The norm that the rule tests, from the sums r.z and `squared`, the sum of the norm terms.
TRIREME_HD double chosen_norm(const State& s, double rz, double squared) {
  if (s.rule.norm == NormKind::none) return 0;
  return sqrt(s.rule.norm == NormKind::natural ? fabs(rz) : squared);
}

// Sum a.b. A start needs the sum, so the pass runs also where the loop has ended.
struct Dot {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* a;
  const double* b;

  struct Row {
    double a, b;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {a[i], b[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const { sum[0] += row.a * row.b; }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// Sums {r.z, norm term} for a z that has been computed.
template <bool weighed>
struct ResidualNorms {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* r;
  const double* z;
  NormTerm norm;

  struct Row {
    double r, z;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {r[i], z[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    sum[0] += row.r * row.z;
    sum[1] += row.weight.term(row.r, row.z, s);
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// r = b - q (q null: r = b) and z = D^-1 r; sums {r.z, norm term}.
struct TrueResidual {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  double* z;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double r, z, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {q ? b[i] - q[i] : b[i], 0, inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.z = row.inverse * row.r;
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    z[i] = row.z;
  }
};

// r = b - A x and z = M^-1 r; the sums {r.z, norm term} are pending. `q` is a work vector.
TRIREME_RUNS_EXECUTOR
template <class Exec, class M>
TRIREME_HD void true_residual(Exec& e, const SystemVectors& v, const M& m, bool x_is_zero,
                              double* r, double* z, double* q) {
  if (!x_is_zero) e.exact_product(v.x, q);
  e.pass(TrueResidual{v.b, x_is_zero ? nullptr : q, r, z, pointwise_part(m), v.norm});
  if constexpr (!M::pointwise) {
    e.forget_sums();
    m.apply(e, r, z);
    by_weights(e, v.norm, [&](auto weighed) {
      e.pass(ResidualNorms<weighed.value>{r, z, v.norm});
    });
  }
}

// The norm of b, from {b.M^-1 b, norm term}: rtol is relative to it where x0 is given.
struct SetReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = chosen_norm(s, sum[0], sum[1]);
  }
};

// Applies PETSc's rule that r.z must be nonzero and never change its sign. `rho` is r.z, and `last`
// is r.z of the iteration before. If the rule is broken, the loop ends after the remaining passes
// of this iteration.
TRIREME_HD void check_preconditioner(State& s, double rho, double last) {
  if (!is_finite(rho)) return stop(s, Reason::not_finite);
  if (rho == 0)
    return stop(s, s.rule.norm == NormKind::none || s.norm == 0
                       ? Reason::atol
                       : Reason::indefinite_preconditioner);
  if (rho * last < 0) stop(s, Reason::indefinite_preconditioner);
}

}  // namespace trireme::solvers
