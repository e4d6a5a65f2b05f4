// SPDX-License-Identifier: BSD-3-Clause
// The element-wise passes and scalar steps of BiCGSTAB, preconditioned from the right.
#pragma once

#include "solvers/methods/cg_passes.hpp"

namespace trireme::solvers {

// s = r - alpha v (in r), s^ = D^-1 s. Moves 5n values (4n without a diagonal array).
struct HalfStep {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  double* r;
  const double* v;
  double* s_hat;
  Diagonal inverse;

  struct Row {
    double r, v, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], v[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const { row.r -= s.alpha * row.v; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    s_hat[i] = row.inverse * row.r;
  }
};

// Sums {t.s, t.t, r0.s, r0.t}. 3n.
struct StabilizerDots {
  static constexpr int sums = 4;
  static constexpr bool always = false;
  const double* t;
  const double* s;
  const double* r0;

  struct Row {
    double t, s, r0;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {t[i], s[i], r0[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.t * row.s;
    sum[1] += row.t * row.t;
    sum[2] += row.r0 * row.s;
    sum[3] += row.r0 * row.t;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// x += alpha p^ + omega s^, r = s - omega t, p^ = D^-1 r + beta (p^ - omega D^-1 v); sums {r.r,
// r0.r}. 11n (10n): p itself is never needed.
struct FullStep {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* p_hat;
  const double* s_hat;
  const double* t;
  const double* v;
  const double* r0;
  Diagonal inverse;

  struct Row {
    double x, r, p_hat, s_hat, t, v, inverse, r0;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i], p_hat[i], s_hat[i], t[i], v[i], inverse[i], r0[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.x += s.alpha * row.p_hat + s.omega * row.s_hat;
    row.r -= s.omega * row.t;
    row.p_hat = row.inverse * row.r + s.beta * (row.p_hat - s.omega * row.inverse * row.v);
    sum[0] += row.r * row.r;
    sum[1] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    p_hat[i] = row.p_hat;
  }
};

// The same where M is not pointwise: p is kept, and p^ = M^-1 p follows.
struct GeneralFullStep {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* p;
  const double* p_hat;
  const double* s_hat;
  const double* t;
  const double* v;
  const double* r0;

  struct Row {
    double x, r, p, p_hat, s_hat, t, v, r0;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i], p[i], p_hat[i], s_hat[i], t[i], v[i], r0[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.x += s.alpha * row.p_hat + s.omega * row.s_hat;
    row.r -= s.omega * row.t;
    row.p = row.r + s.beta * (row.p - s.omega * row.v);
    sum[0] += row.r * row.r;
    sum[1] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    p[i] = row.p;
  }
};

// r = b - q in place of what the loop has; p (where M is not pointwise) changes as r does, and p^
// as D^-1 r (D is then 1 and p^ is computed anew). Sums {change.change, r.r, r0.r}.
struct CorrectRightResidual {
  static constexpr int sums = 3;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  const double* r0;
  double* p;  // null where M is pointwise
  double* p_hat;
  Diagonal inverse;

  struct Row {
    double r, change, r0, p, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i];
    return {exact, exact - r[i], r0[i], p ? p[i] : p_hat[i], inverse[i]};
  }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    row.p += row.inverse * row.change;
    sum[0] += row.change * row.change;
    sum[1] += row.r * row.r;
    sum[2] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    (p ? p : p_hat)[i] = row.p;
  }
};

// r = b - q (q null: r = b), r0 = r, p = r, p^ = D^-1 r; sum r.r.
struct ShadowResidual {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  double* r0;
  double* p;  // null where M is pointwise
  double* p_hat;
  Diagonal inverse;

  struct Row {
    double r, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {q ? b[i] - q[i] : b[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const { sum[0] += row.r * row.r; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = r0[i] = row.r;
    p_hat[i] = row.inverse * row.r;
    if (p) p[i] = row.r;
  }
};

// A stopped solve goes on: r = b - q, p^ = D^-1 p; sums {r.r, r0.r}.
struct GoOnResidual {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  const double* r0;
  const double* p;
  double* p_hat;
  Diagonal inverse;

  struct Row {
    double r, r0, p, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {b[i] - q[i], r0[i], p[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.r * row.r;
    sum[1] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    p_hat[i] = row.inverse * row.p;
  }
};

// p = D p^, where M is pointwise.
struct PlainDirection {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  double* p;
  const double* p_hat;
  Diagonal inverse;

  struct Row {
    double p_hat, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {p_hat[i], inverse[i]}; }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { p[i] = row.p_hat / row.inverse; }
};

// From {b.b}.
struct SetRightReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = s.rule.norm == NormKind::none ? 0 : sqrt(sum[0]);
  }
};

// alpha = rho / r0.v
TRIREME_HD void shadow_step_length(State& s, double r0_v) {
  if (!is_finite(r0_v)) return abandon(s, Reason::not_finite);
  if (r0_v == 0) return break_down(s);
  s.alpha = s.rho / r0_v;
}

// From {r.r, r0.v} of a true residual.
struct BicgstabBegin {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    begin(s, s.rule.norm == NormKind::none ? 0 : sqrt(sum[0]));
    if (s.running && s.rho == 0) stop(s, Reason::atol);
    if (s.running) shadow_step_length(s, sum[1]);
    s.live = s.running;
  }
};

// From {r.r, r0.r, r0.v} of a true residual, when a stopped solve goes on.
struct BicgstabGoOn {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[1];
    go_on(s, s.rule.norm == NormKind::none ? 0 : sqrt(sum[0]));
    if (s.running && sum[0] == 0) stop(s, Reason::atol);
    if (s.running && (s.rho == 0 || sum[2] == 0)) {
      abandon(s, Reason::breakdown);
      s.restart = true;
    }
    if (s.running) shadow_step_length(s, sum[2]);
    s.live = s.running;
  }
};

// From {change.change, r.r, r0.r, r0.v} of a corrected residual.
struct BicgstabCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[2];
    resume(s, sqrt(sum[1]), sqrt(sum[0]));
    if (s.running && s.rho == 0) break_down(s);
    if (s.running) shadow_step_length(s, sum[3]);
    s.live = s.running;
  }
};

// From {t.s, t.t, r0.s, r0.t}: omega = t.s / t.t, rho' = r0.s - omega r0.t,
// beta = (rho' / rho) (alpha / omega)
struct Stabilize {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!s.live) return;
    if (!is_finite(sum[0]) || !is_finite(sum[1])) return abandon(s, Reason::not_finite);
    s.omega = sum[1] == 0 ? 0 : sum[0] / sum[1];  // t = 0: s is all that is left of the residual
    const double last = s.rho;
    s.rho = sum[2] - s.omega * sum[3];
    s.beta = s.omega == 0 ? 0 : (s.rho / last) * (s.alpha / s.omega);
  }
};

// From {r.r, r0.r, r0.v}: the norm, and the next alpha = rho' / r0.v. rho' is summed anew: kept by
// its recurrence alone it loses digits, and BiCGSTAB many iterations.
struct BicgstabImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!s.live) return;
    ++s.iterations;
    s.rho = sum[1];
    judge(s, s.rule.norm == NormKind::none ? 0 : sqrt(sum[0]));
    if (s.running && sum[0] == 0) stop(s, Reason::atol);
    if (s.running && (s.omega == 0 || s.rho == 0)) break_down(s);
    if (s.running) shadow_step_length(s, sum[2]);
    s.live = s.running;
  }
};

}  // namespace trireme::solvers
