// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method with one point of global sums per iteration (Chronopoulos and Gear,
// J. Comput. Appl. Math. 25, 1989): fewer waits, for systems with few rows per processor.
//
// Values moved per iteration beside the product (n: rows), with Jacobi, 11n (10n with a constant
// diagonal): all updates at once (x r p s w d, x r p s u).
#pragma once

#include "solvers/methods/cg.hpp"

namespace trireme::solvers {

TRIREME_HD double& last_alpha(State& s) { return s.scalar[2]; }
TRIREME_HD double& inverse_rho(State& s) { return s.scalar[3]; }

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = D^-1 r; sums {r.u, norm term}.
// The old u is computed again as D^-1 r, or is read if M is not pointwise (`read_u`). In the first
// iteration after a start, beta is 0, and the old p and s are not used, because they are unset.
template <bool weighed>
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
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double d = inverse[i];
    const double r_i = r[i];
    return {
        x[i], r_i, p[i], s[i], read_u ? u[i] : d * r_i, w[i], d, LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& state, double* sum) const {
    const bool first = state.beta == 0;
    row.p = first ? row.u : row.u + state.beta * row.p;
    row.s = first ? row.w : row.w + state.beta * row.s;
    row.x += state.alpha * row.p;
    row.r -= state.alpha * row.s;
    row.u = row.inverse * row.r;
    sum[0] += row.r * row.u;
    sum[1] += row.weight.term(row.r, row.u, state);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    p[i] = row.p;
    s[i] = row.s;
    u[i] = row.u;
  }
};

// p = u + beta p, which is the first half of the update that was not done.
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

// x += alpha p
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

TRIREME_HD void single_reduction_step_length(State& s, double curvature) {
  last_curvature(s) = curvature;
  inverse_rho(s) = 1 / s.rho;
  s.alpha = s.rho / curvature;
  close_iteration(s);
}

// From {r.u, norm term, u.w}, where r is the true residual: alpha = r.u / u.w
struct SingleReductionBegin {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    CgBegin{}(s, sum);
    s.beta = 0;
    if (running(s)) check_curvature(s, sum[2]);
    single_reduction_step_length(s, sum[2]);
  }
};

// From {r.u, norm term, u.w}: beta = rho' / rho, alpha = rho' / p.Ap, where p.Ap is
// u.w - beta rho' / alpha = u.w - beta^2 (the last p.Ap), so that no division waits for another.
struct SingleReductionImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    const double last = s.rho;
    s.rho = sum[0];
    ++s.iterations;
    judge(s, chosen_norm(s, sum[0], sum[1]));
    if (running(s)) check_preconditioner(s, s.rho, last);
    s.beta = s.rho * inverse_rho(s);
    const double curvature = sum[2] - s.beta * s.beta * last_curvature(s);
    if (running(s)) check_curvature(s, curvature);
    last_alpha(s) = s.alpha;
    single_reduction_step_length(s, curvature);
  }
};

// From {u.w}, after the first iteration of a solve that goes on: alpha, by the same formula as in
// SingleReductionImprove.
struct SingleReductionGoOn {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double curvature = sum[0] - s.beta * s.beta * last_curvature(s);
    if (running(s)) check_curvature(s, curvature);
    last_alpha(s) = s.alpha;
    single_reduction_step_length(s, curvature);
  }
};

// From {term of the change, r.u, norm term, u.w} of a corrected residual: the new beta and alpha.
struct SingleReductionCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.beta *= sum[1] / s.rho;
    CgCorrect{}(s, sum);
    const double curvature = sum[3] - s.beta * s.rho / last_alpha(s);
    if (running(s)) check_curvature(s, curvature);
    single_reduction_step_length(s, curvature);
  }
};

struct SingleReductionCg : SystemVectors {
  static constexpr MethodInfo info = Cg::info;
  static constexpr Variant variant = Variant::single_reduction;
  static constexpr int vectors = 5;
  static constexpr int pointwise_vectors = 5;
  static constexpr int scalars = 4;
  static constexpr int directions[] = {2};      // p
  static constexpr int left_behind[] = {1, 2};  // u p

  double* r;
  double* u;  // M^-1 r
  double* p;
  double* w;  // A u
  double* s;  // A p

  template <class Work>
  TRIREME_HD static SingleReductionCg with(const SystemVectors& v, const Work& work) {
    return {v, work(0), work(1), work(2), work(3), work(4)};
  }
  const double* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return w; }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    true_residual(e, *this, m, true, r, p, w);
    e.finish(SetReference{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    true_residual(e, *this, m, x_is_zero, r, u, w);   // r = b - A x, u = M^-1 r
    e.product_and_dot(u, w, SingleReductionBegin{});  // w = A u, alpha = r.u / u.w
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = D^-1 r
    by_weights(e, norm, [&](auto weighed) {
      e.pass(SingleReductionUpdate<weighed.value>{x, r, p, s, u, w, pointwise_part(m),
                                                  !M::pointwise, norm});
    });
    if constexpr (!M::pointwise) {
      e.forget_sums();
      m.apply(e, r, u);  // u = M^-1 r
      by_weights(e, norm, [&](auto weighed) { e.pass(ResidualNorms<weighed.value>{r, u, norm}); });
    }
    e.product_and_dot(u, w, SingleReductionImprove{});  // w = A u, alpha, beta
  }

  // p and s = A p remain those of the last iteration.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, w);
    if constexpr (M::pointwise) {
      e.pass(CorrectResidual{b, w, r, u, nullptr, pointwise_part(m), norm});
    } else {
      e.pass(ChangeResidual{b, w, r, w, norm});
      m.apply(e, r, u);
      by_weights(e, norm, [&](auto weighed) { e.pass(ResidualNorms<weighed.value>{r, u, norm}); });
    }
    e.product_and_dot(u, w, SingleReductionCorrect{});  // w = A u
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    first_iteration(e, *this, m, r, u, p, s);
    e.pass(Advance{x, p});                           // x += alpha p
    e.product_and_dot(u, w, SingleReductionGoOn{});  // w = A u, alpha
  }

  // p becomes the next direction, the same as in Cg, so that either variant can go on.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void leave_direction(Exec& e, const M&) const {
    e.pass(NextDirection{p, u});
  }
};

}  // namespace trireme::solvers
