// SPDX-License-Identifier: BSD-3-Clause
// The element-wise passes and scalar steps of the conjugate gradient method.
//
// A pass does load -> update -> store for every row, so that an executor can have many rows in
// flight; its sums are added up in a fixed order. A step sees the sums that are pending, in the
// order of the text, and changes the scalars.
#pragma once

#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// What is squared and summed for the norm that the caller tests.
struct NormTerm {
  bool preconditioned = false;
  TRIREME_HD double operator()(double r, double z) const { return preconditioned ? z * z : r * r; }
};

// The norm from the sums {r.z, norm term}.
TRIREME_HD double chosen_norm(const State& s, double rz, double squared) {
  if (s.rule.norm == NormKind::none) return 0;
  return sqrt(s.rule.norm == NormKind::natural ? fabs(rz) : squared);
}

struct Dot {  // sum a.b; also where the loop has ended: a start needs it
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

// Sums {r.z, norm term} for z already computed.
struct ResidualNorms {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* r;
  const double* z;
  NormTerm norm;

  struct Row {
    double r, z;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], z[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z);
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
    double r, z, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {q ? b[i] - q[i] : b[i], 0, inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    row.z = row.inverse * row.r;
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    z[i] = row.z;
  }
};

// r -= alpha q; sums {r.D^-1 r, norm term}. Moves 4n values (3n without a diagonal array).
struct CgResidual {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* r;
  const double* q;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double r, q, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], q[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.r -= s.alpha * row.q;
    const double z = row.inverse * row.r;
    sum[0] += row.r * z;
    sum[1] += norm(row.r, z);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { r[i] = row.r; }
};

// x += alpha p, p = D^-1 z + beta p, where z is r, or already preconditioned and D = 1. 6n (5n).
struct CgDirection {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  double* x;
  double* p;
  const double* z;
  Diagonal inverse;

  struct Row {
    double x, p, z, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {x[i], p[i], z[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.x += s.alpha * row.p;
    row.p = row.inverse * row.z + s.beta * row.p;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    p[i] = row.p;
  }
};

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = D^-1 r; sums {r.u, norm term}.
// 11n (10n): the old u is D^-1 r again, unless u was preconditioned otherwise and is read. On the
// first iteration after a start beta is 0, and p and s are not yet numbers.
struct SingleReductionUpdate {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* p;
  double* s;
  double* u;
  const double* w;
  Diagonal inverse;
  bool read_u;
  NormTerm norm;

  struct Row {
    double x, r, p, s, u, w, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double d = inverse[i];
    const double r_i = r[i];
    return {x[i], r_i, p[i], s[i], read_u ? u[i] : d * r_i, w[i], d};
  }
  TRIREME_HD void update(Row& row, const State& state, double* sum) const {
    const bool first = state.beta == 0;
    row.p = first ? row.u : row.u + state.beta * row.p;
    row.s = first ? row.w : row.w + state.beta * row.s;
    row.x += state.alpha * row.p;
    row.r -= state.alpha * row.s;
    row.u = row.inverse * row.r;
    sum[0] += row.r * row.u;
    sum[1] += norm(row.r, row.u);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    p[i] = row.p;
    s[i] = row.s;
    u[i] = row.u;
  }
};

// single_reduction: p = u + beta p, as the first half of the update that was not done.
struct NextDirection {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  double* p;
  const double* u;

  struct Row {
    double p, u;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {p[i], u[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.p = s.beta == 0 ? row.u : row.u + s.beta * row.p;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { p[i] = row.p; }
};

// x += alpha p.
struct Advance {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  double* x;
  const double* p;

  struct Row {
    double x, p;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {x[i], p[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const { row.x += s.alpha * row.p; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { x[i] = row.x; }
};

// The norm of b, from {b.M^-1 b, norm term}: what rtol is relative to when x0 is given.
struct SetReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = chosen_norm(s, sum[0], sum[1]);
  }
};

// PETSc's rule: r.z must be nonzero and never change its sign.
TRIREME_HD void check_preconditioner(State& s, double rho, double last) {
  if (!is_finite(rho)) return abandon(s, Reason::not_finite);
  if (rho == 0)
    return abandon(s, s.rule.norm == NormKind::none || s.norm == 0
                          ? Reason::atol
                          : Reason::indefinite_preconditioner);
  if (rho * last < 0) abandon(s, Reason::indefinite_preconditioner);
}

// PETSc's rule: p.Ap must be nonzero and never change its sign.
TRIREME_HD void check_curvature(State& s, double curvature) {
  if (!is_finite(curvature)) return abandon(s, Reason::not_finite);
  if (s.curvature == 0) s.curvature = curvature;
  if (curvature == 0 || (curvature < 0) != (s.curvature < 0)) abandon(s, Reason::indefinite_matrix);
}

// From {r.z, norm term} of a true residual.
struct CgBegin {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    begin(s, chosen_norm(s, sum[0], sum[1]));
    if (s.running) check_preconditioner(s, s.rho, s.rho);
  }
};

// From {r.z, norm term} of a true residual, when a stopped solve goes on.
struct CgGoOn {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    go_on(s, chosen_norm(s, sum[0], sum[1]));
    if (s.running) check_preconditioner(s, s.rho, s.rho);
  }
};

// From {r.p, p.Ap}: alpha = r.p / p.Ap, which is rho / p.Ap if p.Ap and r are the loop's of before.
struct GoOnStepLength {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.live = s.running;
    if (!s.live) return;
    check_curvature(s, sum[1]);
    if (!(sum[0] * s.rho > 0)) {  // r is not what p was made for: a new start
      abandon(s, Reason::breakdown);
      s.restart = true;
    }
    s.last_curvature = sum[1];
    s.alpha = sum[0] / sum[1];
  }
};

// From {r.z, norm term, z.Ap}: beta = - z.Ap / p.Ap, which is rho' / rho if the loop has not ended.
struct GoOnImprove {
  static constexpr bool ends_iteration = true;
  static constexpr bool has_tail = true;  // x += alpha p still follows
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!s.live) return;
    const double last = s.rho;
    s.rho = sum[0];
    s.beta = -sum[2] / s.last_curvature;
    ++s.iterations;
    judge(s, chosen_norm(s, sum[0], sum[1]));
    if (!s.running) return;
    check_preconditioner(s, s.rho, last);
    s.live = true;
  }
};

// From {p.Ap}: alpha = rho / p.Ap
struct CgStepLength {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.live = s.running;
    if (!s.live) return;
    check_curvature(s, sum[0]);
    s.alpha = s.rho / sum[0];
  }
};

// From {r.z, norm term}: beta = rho' / rho
struct CgImprove {
  static constexpr bool ends_iteration = true;
  static constexpr bool has_tail = true;  // x += alpha p still follows
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!s.live) return;
    const double last = s.rho;
    s.rho = sum[0];
    s.beta = s.rho / last;
    ++s.iterations;
    judge(s, chosen_norm(s, sum[0], sum[1]));
    if (!s.running) return;
    check_preconditioner(s, s.rho, last);
    s.live = true;  // x += alpha p is still due
  }
};

TRIREME_HD void single_reduction_step_length(State& s, double curvature) {
  s.last_curvature = curvature;
  s.inverse_rho = 1 / s.rho;
  s.alpha = s.rho / curvature;
  s.live = s.running;
}

// From {r.u, norm term, u.w}, where r is the true residual: alpha = r.u / u.w
struct SingleReductionBegin {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    CgBegin{}(s, sum);
    s.beta = 0;
    if (s.running) check_curvature(s, sum[2]);
    single_reduction_step_length(s, sum[2]);
  }
};

// From {u.w} after the first iteration of a single_reduction loop that goes on: alpha, as
// SingleReductionImprove.
struct SingleReductionGoOn {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double curvature = sum[0] - s.beta * s.beta * s.last_curvature;
    if (s.running) check_curvature(s, curvature);
    s.last_alpha = s.alpha;
    single_reduction_step_length(s, curvature);
  }
};

// From {r.u, norm term, u.w}: beta = rho' / rho, alpha = rho' / p.Ap, where p.Ap is
// u.w - beta rho' / alpha = u.w - beta^2 (p.Ap of before): no division waits for another.
struct SingleReductionImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!s.live) return;
    const double last = s.rho;
    s.rho = sum[0];
    ++s.iterations;
    judge(s, chosen_norm(s, sum[0], sum[1]));
    if (s.running) check_preconditioner(s, s.rho, last);
    s.beta = s.rho * s.inverse_rho;
    const double curvature = sum[2] - s.beta * s.beta * s.last_curvature;
    if (s.running) check_curvature(s, curvature);
    s.last_alpha = s.alpha;
    single_reduction_step_length(s, curvature);
  }
};

}  // namespace trireme::solvers
