// SPDX-License-Identifier: BSD-3-Clause
// Passes and steps of BiCGSTAB, some of which BiCGStab(2) shares.
#pragma once

#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

TRIREME_HD double& omega(State& s) { return s.scalar[0]; }
TRIREME_HD double omega(const State& s) { return s.scalar[0]; }

// s = r - alpha v (in r), s^ = D^-1 s. Moves 5n values (4n without a diagonal array).
template <class T>
struct HalfStep {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  T* r;
  const T* v;
  T* s_hat;
  DiagonalOf<T> inverse;

  struct Row {
    T r, v, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], v[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.r = static_cast<T>(wide(row.r) - s.alpha * wide(row.v));
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    s_hat[i] = row.inverse * row.r;
  }
};

// Sums {t.s, t.t, r0.s, r0.t}. Moves 3n values.
template <class T>
struct StabilizerDots {
  static constexpr int sums = 4;
  static constexpr bool always = false;
  const T* t;
  const T* s;
  const T* r0;

  struct Row {
    T t, s, r0;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {t[i], s[i], r0[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    const double of_t = wide(row.t), of_s = wide(row.s), of_r0 = wide(row.r0);
    sum[0] += of_t * of_s;
    sum[1] += of_t * of_t;
    sum[2] += of_r0 * of_s;
    sum[3] += of_r0 * of_t;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// x += alpha p^ + omega s^, r = s - omega t, d = D^-1 r + beta (d - omega D^-1 v); sums
// {norm term, r0.r}. In FP32, x is BicgstabOf::steps.
// Where M is pointwise, d is p^ itself and p is not needed: the pass moves 11n values (10n without
// a diagonal array). Otherwise D is 1, d is p, and p^ = M^-1 p follows.
template <bool pointwise, bool weighed, class T>
struct FullStep {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  T* x;
  T* r;
  T* direction;
  const T* p_hat;  // null where M is pointwise
  const T* s_hat;
  const T* t;
  const T* v;
  const T* r0;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    T x, r, direction, p_hat, s_hat, t, v, inverse, r0;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const T d = direction[i];
    return {x[i], r[i],       d,     pointwise ? d : p_hat[i],        s_hat[i], t[i],
            v[i], inverse[i], r0[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    const double of_d = wide(row.inverse);
    row.x = static_cast<T>(wide(row.x) + (s.alpha * wide(row.p_hat) + omega(s) * wide(row.s_hat)));
    row.r = static_cast<T>(wide(row.r) - omega(s) * wide(row.t));
    const double residual = wide(row.r);
    row.direction = static_cast<T>(of_d * residual +
                                   s.beta * (wide(row.direction) - omega(s) * of_d * wide(row.v)));
    sum[0] += row.weight.term(residual, of_d * residual, s);
    sum[1] += wide(row.r0) * residual;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    direction[i] = row.direction;
  }
};

// r = b - q replaces the recurrence's r; sums {term of the change of r, norm term, r0.r}. If M is
// pointwise, p^ changes by D^-1 change. Otherwise D is 1, p changes by `change`, and p^ is computed
// anew. Vectors in FP32 come into a new unit.
template <class T>
struct CorrectRightResidual {
  static constexpr int sums = 3;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  const T* r0;
  T* p;  // null where M is pointwise
  T* p_hat;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, change, r0, p, inverse, weight;  // FP32: change is the old r until update()
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i], old = r[i];
    return {exact,       kIsFloat<T> ? old : exact - old, r0[i], p ? p[i] : p_hat[i], inverse[i],
            norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    double exact = row.r;
    if constexpr (kIsFloat<T>) {
      exact = row.r / s.unit;
      row.r = static_cast<T>(exact);
      row.change = row.r - s.rescale * row.change;
      row.p *= s.rescale;
    }
    row.p += row.inverse * row.change;
    sum[0] += norm(row.change, row.inverse * row.change, row.weight, s);
    sum[1] += norm(exact, row.inverse * exact, row.weight, s);
    sum[2] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = static_cast<T>(row.r);
    (p ? p : p_hat)[i] = static_cast<T>(row.p);
  }
};

// r = b - q (q null: r = b), r0 = r, p = r, p^ = D^-1 r; sums {r.r, norm term}.
template <class T>
struct ShadowResidual {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  T* r0;
  T* p;  // null where M is pointwise
  T* p_hat;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {q ? b[i] - q[i] : b[i], inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    double exact = row.r;
    if constexpr (kIsFloat<T>) {
      exact = row.r / s.unit;
      row.r = static_cast<T>(exact);
    }
    sum[0] += row.r * row.r;
    sum[1] += norm(exact, row.inverse * exact, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = r0[i] = static_cast<T>(row.r);
    p_hat[i] = static_cast<T>(row.inverse * row.r);
    if (p) p[i] = static_cast<T>(row.r);
  }
};

// A stopped solve goes on: r = b - q, p^ = D^-1 p; sums {norm term, r0.r}.
template <class T>
struct GoOnResidual {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  const T* r0;
  const double* p;
  T* p_hat;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, r0, p, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {b[i] - q[i], r0[i], p[i], inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    double exact = row.r;
    if constexpr (kIsFloat<T>) {
      exact = row.r / s.unit;
      row.r = static_cast<T>(exact);
      row.p /= s.unit;
    }
    sum[0] += norm(exact, row.inverse * exact, row.weight, s);
    sum[1] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = static_cast<T>(row.r);
    p_hat[i] = static_cast<T>(row.inverse * row.p);
  }
};

// p = D p^, where M is pointwise.
template <class T>
struct PlainDirection {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  double* p;
  const T* p_hat;
  DiagonalOf<T> inverse;

  struct Row {
    double p_hat, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {p_hat[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    if constexpr (kIsFloat<T>) row.p_hat *= s.unit;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { p[i] = row.p_hat / row.inverse; }
};

// The norm that the rule tests, from the sum of the norm terms.
TRIREME_HD double right_norm(const State& s, double squared) {
  return s.rule.norm == NormKind::none ? 0 : s.unit * sqrt(squared);
}

// The norm of b, from {b.b, norm term}.
struct SetRightReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = right_norm(s, sum[1]);
  }
};

// alpha = rho / r0.v
TRIREME_HD void shadow_step_length(State& s, double r0_v) {
  if (!is_finite(r0_v)) return abandon(s, Reason::not_finite);
  if (r0_v == 0) return break_down(s);
  s.alpha = s.rho / r0_v;
}

// From {r.r, norm term, r0.v} of a true residual.
struct BicgstabBegin {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    begin(s, right_norm(s, sum[1]));
    if (running(s) && s.rho == 0) stop(s, Reason::atol);
    if (running(s)) shadow_step_length(s, sum[2]);
    close_iteration(s);
  }
};

// From {norm term, r0.r, r0.v} of a true residual, when a stopped solve goes on.
struct BicgstabGoOn {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[1];
    go_on(s, right_norm(s, sum[0]));
    if (running(s) && sum[0] == 0) stop(s, Reason::atol);
    if (running(s) && (s.rho == 0 || sum[2] == 0)) abandon_for_new_start(s);
    if (running(s)) shadow_step_length(s, sum[2]);
    close_iteration(s);
  }
};

// From {term of the change, norm term, r0.r, r0.v} of a corrected residual.
struct BicgstabCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[2];
    resume(s, s.unit * sqrt(sum[1]), s.unit * sqrt(sum[0]));
    if (running(s) && s.rho == 0) break_down(s);
    if (running(s)) shadow_step_length(s, sum[3]);
    close_iteration(s);
  }
};

// From {t.s, t.t, r0.s, r0.t}: omega = t.s / t.t, rho' = r0.s - omega r0.t,
// beta = (rho' / rho) (alpha / omega). Where t = 0, s is all that is left of the residual.
struct Stabilize {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    if (!is_finite(sum[0]) || !is_finite(sum[1])) return abandon(s, Reason::not_finite);
    omega(s) = sum[1] == 0 ? 0 : sum[0] / sum[1];
    const double last = s.rho;
    s.rho = sum[2] - omega(s) * sum[3];
    s.beta = omega(s) == 0 ? 0 : (s.rho / last) * (s.alpha / omega(s));
  }
};

// From {norm term, r0.r, r0.v}: the norm, and the next alpha = rho' / r0.v. rho' is summed anew: by
// its recurrence alone rho' would lose digits, and BiCGSTAB many iterations.
struct BicgstabImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    ++s.iterations;
    s.rho = sum[1];
    judge(s, right_norm(s, sum[0]));
    if (running(s) && sum[0] == 0) stop(s, Reason::atol);
    if (running(s) && (omega(s) == 0 || s.rho == 0)) break_down(s);
    if (running(s)) shadow_step_length(s, sum[2]);
    close_iteration(s);
  }
};

}  // namespace trireme::solvers
