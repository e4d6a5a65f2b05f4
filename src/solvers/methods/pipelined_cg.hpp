// SPDX-License-Identifier: BSD-3-Clause
// Pipelined conjugate gradients (Ghysels and Vanroose, Parallel Computing 40, 2014, Algorithm 4):
// the sums of an iteration are on their way while the preconditioner and the product run, so that
// an iteration waits for the longer of the two. On the host only.
//
// Values moved per iteration beside the product (n: rows), with Jacobi, 15n: all updates at once
// (x r w p s z n d, x r w p s z m). u = D^-1 r is computed where it is needed.
//
// The recurrences of s, w and z make rounding errors grow, so that x would not come as close to the
// solution as by CG. b - A x takes the place of r when the norm has fallen to kReplaceBelow of the
// last true one and every kReplaceAfter iterations; then w, s and z are computed from r and p,
// which stays. (Residual replacement in this method: Cools et al., SIAM J. Matrix Anal. Appl. 39,
// 2018, and Ghysels and Vanroose, section 5.) Without a norm, or with a convergence test of the
// caller, r is not replaced.
#pragma once

#include "solvers/methods/single_reduction_cg.hpp"

namespace trireme::solvers {

inline constexpr double kReplaceBelow = 1e-8;
inline constexpr std::int64_t kReplaceAfter = 100;

// z = n + beta z, s = w + beta s, p = D^-1 r + beta p, x += alpha p, r -= alpha s, w -= alpha z,
// m = D^-1 w; sums {r.D^-1 r, norm term, w.D^-1 r}. In the first iteration after a start, beta is
// 0, and the old z, s and p are not used, because they are unset.
struct PipelinedUpdate {
  static constexpr int sums = 3;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* w;
  double* p;
  double* s;
  double* z;
  double* m;
  const double* n;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double x, r, w, p, s, z, n, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i], w[i], p[i], s[i], z[i], n[i], inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& state, double* sum) const {
    const bool first = state.beta == 0;
    const double last_u = row.inverse * row.r;
    row.z = first ? row.n : row.n + state.beta * row.z;
    row.s = first ? row.w : row.w + state.beta * row.s;
    row.p = first ? last_u : last_u + state.beta * row.p;
    row.x += state.alpha * row.p;
    row.r -= state.alpha * row.s;
    row.w -= state.alpha * row.z;
    const double u = row.inverse * row.r;
    sum[0] += row.r * u;
    sum[1] += norm(row.r, u, row.weight, state);
    sum[2] += row.w * u;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    w[i] = row.w;
    p[i] = row.p;
    s[i] = row.s;
    z[i] = row.z;
    m[i] = row.inverse * row.w;
  }
};

// The same where M is not pointwise: u and q = M^-1 s have recurrences of their own, and m = M^-1 w
// follows.
struct PipelinedUpdateOfAll {
  static constexpr int sums = 3;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* u;
  double* w;
  double* p;
  double* s;
  double* q;
  double* z;
  const double* m;
  const double* n;
  NormTerm norm;

  struct Row {
    double x, r, u, w, p, s, q, z, m, n, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i], u[i], w[i], p[i], s[i], q[i], z[i], m[i], n[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& state, double* sum) const {
    const bool first = state.beta == 0;
    row.z = first ? row.n : row.n + state.beta * row.z;
    row.q = first ? row.m : row.m + state.beta * row.q;
    row.s = first ? row.w : row.w + state.beta * row.s;
    row.p = first ? row.u : row.u + state.beta * row.p;
    row.x += state.alpha * row.p;
    row.r -= state.alpha * row.s;
    row.u -= state.alpha * row.q;
    row.w -= state.alpha * row.z;
    sum[0] += row.r * row.u;
    sum[1] += norm(row.r, row.u, row.weight, state);
    sum[2] += row.w * row.u;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    u[i] = row.u;
    w[i] = row.w;
    p[i] = row.p;
    s[i] = row.s;
    q[i] = row.q;
    z[i] = row.z;
  }
};

// out = D^-1 in
struct ScaleRows {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  double* out;
  const double* in;
  Diagonal inverse;

  struct Row {
    double in, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {in[i], inverse[i]}; }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { out[i] = row.inverse * row.in; }
};

// r = b - q replaces the recurrence's r; sums {change.change, r.r}, where `change` is the change of
// r.
struct ReplaceResidual {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;

  struct Row {
    double r, change;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i];
    return {exact, exact - r[i]};
  }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.change * row.change;
    sum[1] += row.r * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { r[i] = row.r; }
};

// From {r.u, norm term, w.u}: as in single-reduction CG, and a replacement of r where it is due.
struct PipelinedImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    SingleReductionImprove{}(s, sum);
    if (!running(s) || s.correct_at == 0 || s.iterations < s.restarted_at + kReplaceAfter) return;
    s.phase = Phase::waiting;
    make_due(s, Due::correction);
  }
};

// From {change.change, r.r, r.u, norm term} of a replaced residual. A small change says nothing
// about stagnation, because a replacement may be due while the norm falls slowly. After a large one
// the directions so far do not fit the new residual, so that a new start becomes due.
struct PipelinedReplace {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const bool fits = 4 * sum[0] <= sum[1];
    if (fits && s.due == Due::correction) s.due = Due::new_start;
    const double last = s.rho;
    s.rho = sum[2];
    s.beta *= s.rho / last;
    verify(s, chosen_norm(s, sum[2], sum[3]));
    if (!running(s)) return;
    if (fits) return check_preconditioner(s, s.rho, last);
    s.phase = Phase::waiting;
    make_due(s, Due::new_start);
    --s.replacements;  // the new start counts this replacement again
  }
};

// From {w.u} after a replacement: the new alpha, as in SingleReductionImprove.
struct PipelinedCurvature {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double curvature = sum[0] - s.beta * s.rho / last_alpha(s);
    if (running(s)) check_curvature(s, curvature);
    single_reduction_step_length(s, curvature);
  }
};

struct PipelinedCg : SystemVectors {
  static constexpr MethodInfo info = [] {
    MethodInfo of_form = Cg::info;
    of_form.name = "pipelined_cg";
    of_form.resident_only = true;
    of_form.host_only = true;
    of_form.remark = "cg on CPU ranks whose sums run beside the product";
    return of_form;
  }();
  static constexpr Variant variant = Variant::pipelined;
  static constexpr bool replaces_residual = true;
  static constexpr int vectors = 9;
  static constexpr int pointwise_vectors = 7;
  static constexpr int scalars = 4;
  static constexpr int directions[] = {2};  // p

  double* r;
  double* w;  // A u
  double* p;
  double* s;  // A p
  double* z;  // A M^-1 s
  double* m;  // M^-1 w
  double* n;  // A m
  double* u;  // M^-1 r where M is not pointwise
  double* q;  // M^-1 s where M is not pointwise

  template <class Work>
  TRIREME_HD static PipelinedCg with(const SystemVectors& v, const Work& work) {
    return {v, work(0), work(1), work(2), work(3), work(4), work(5), work(6), work(7), work(8)};
  }
  const double* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return n; }

  template <class Exec, class M>
  void reference_norm(Exec& e, const M& pc) const {
    true_residual(e, *this, pc, true, r, p, n);
    e.finish(SetReference{});
  }

  template <class Exec, class M>
  void start(Exec& e, const M& pc, bool x_is_zero) const {
    double* const first_u = M::pointwise ? m : u;
    true_residual(e, *this, pc, x_is_zero, r, first_u, w);  // r = b - A x, u = M^-1 r
    e.product_and_dot(first_u, w, SingleReductionBegin{});  // w = A u, alpha = r.u / u.w
    if (e.running()) prepare_next(e, pc);
  }

  template <class Exec, class M>
  void iteration(Exec& e, const M& pc) const {
    if constexpr (M::pointwise)
      e.pass(PipelinedUpdate{x, r, w, p, s, z, m, n, pointwise_part(pc), norm});
    else
      e.pass(PipelinedUpdateOfAll{x, r, u, w, p, s, q, z, m, n, norm});
    e.start_sums();
    if constexpr (!M::pointwise) pc.apply(e, w, m);  // m = M^-1 w
    e.product(m, n);                                 // n = A m
    e.finish(PipelinedImprove{});                    // ||r||, alpha, beta
  }

  // Replaces r by b - A x. p remains that of the last iteration.
  template <class Exec, class M>
  void correct(Exec& e, const M& pc) const {
    double* const new_u = M::pointwise ? m : u;
    e.exact_product(x, n);
    e.pass(ReplaceResidual{b, n, r});
    precondition(e, pc, r, new_u);
    by_weights(e, norm, [&](auto weighed) {
      e.pass(ResidualNorms<weighed.value>{r, new_u, norm}, PipelinedReplace{});
    });
    if (!e.running()) return;
    e.product_and_dot(new_u, w, PipelinedCurvature{});  // w = A u, alpha
    if (!e.running()) return;
    e.product(p, s);  // s = A p
    prepare_last(e, pc);
    prepare_next(e, pc);
  }

  template <class Exec, class M>
  void go_on(Exec& e, const M& pc) const {
    double* const first_u = M::pointwise ? m : u;
    first_iteration(e, *this, pc, r, first_u, p, s);
    e.pass(Advance<>{x, p});                               // x += alpha p
    e.product_and_dot(first_u, w, SingleReductionGoOn{});  // w = A u, alpha
    if (!e.running()) return;
    prepare_last(e, pc);
    prepare_next(e, pc);
  }

  // p becomes the next direction, the same as in Cg, so that any variant can go on.
  template <class Exec, class M>
  void leave_direction(Exec& e, const M& pc) const {
    if constexpr (M::pointwise) e.pass(ScaleRows{m, r, pointwise_part(pc)});
    e.pass(NextDirection<>{p, M::pointwise ? m : u});
  }

 private:
  // to = M^-1 from
  template <class Exec, class M>
  void precondition(Exec& e, const M& pc, const double* from, double* to) const {
    if constexpr (M::pointwise)
      e.pass(ScaleRows{to, from, pointwise_part(pc)});
    else
      pc.apply(e, from, to);
  }
  // z = A M^-1 s. Where M is pointwise, m holds M^-1 s meanwhile.
  template <class Exec, class M>
  void prepare_last(Exec& e, const M& pc) const {
    double* const of_s = M::pointwise ? m : q;
    precondition(e, pc, s, of_s);
    e.product(of_s, z);
  }
  // m = M^-1 w, n = A m
  template <class Exec, class M>
  void prepare_next(Exec& e, const M& pc) const {
    precondition(e, pc, w, m);
    e.product(m, n);
  }
};

}  // namespace trireme::solvers
