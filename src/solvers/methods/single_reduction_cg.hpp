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
template <bool weighed, class T = double>
struct SingleReductionUpdate {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  T* x;
  T* r;
  T* p;
  T* s;
  T* u;
  const T* w;
  DiagonalOf<T> inverse;
  bool read_u;
  NormTerm norm;

  struct Row {
    double x, r, p, s, u, w, inverse;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double d = wide(inverse[i]);
    const double r_i = wide(r[i]);
    return {wide(x[i]),
            r_i,
            wide(p[i]),
            wide(s[i]),
            read_u ? wide(u[i]) : d * r_i,
            wide(w[i]),
            d,
            LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& state, double* sum) const {
    const bool first = state.beta == 0;
    row.p = static_cast<T>(first ? row.u : row.u + state.beta * row.p);
    row.s = static_cast<T>(first ? row.w : row.w + state.beta * row.s);
    row.x += state.alpha * row.p;
    row.r = static_cast<T>(row.r - state.alpha * row.s);
    row.u = static_cast<T>(row.inverse * row.r);
    sum[0] += row.r * row.u;
    sum[1] += row.weight.term(row.r, row.u, state);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = static_cast<T>(row.x);
    r[i] = static_cast<T>(row.r);
    p[i] = static_cast<T>(row.p);
    s[i] = static_cast<T>(row.s);
    u[i] = static_cast<T>(row.u);
  }
};

// p = u + beta p, which is the first half of the update that was not done.
template <class T = double>
struct NextDirection {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  T* p;
  const T* u;

  struct Row {
    double p, u;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {wide(p[i]), wide(u[i])}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.p = s.beta == 0 ? row.u : row.u + s.beta * row.p;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { p[i] = static_cast<T>(row.p); }
};

// x += alpha p
template <class T = double>
struct Advance {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  T* x;
  const T* p;

  struct Row {
    double x, p;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {wide(x[i]), wide(p[i])}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const { row.x += s.alpha * row.p; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { x[i] = static_cast<T>(row.x); }
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

// From {term of the change, r.u, norm term, u.w} of a corrected residual: the new beta and alpha. p
// and s are still in the last unit; beta brings them into the new one.
struct SingleReductionCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.beta *= sum[1] / (s.rescale * s.rescale * s.rho);
    CgCorrect{}(s, sum);
    const double curvature = sum[3] - s.beta * s.rho / last_alpha(s);
    s.beta *= s.rescale;
    if (running(s)) check_curvature(s, curvature);
    single_reduction_step_length(s, curvature);
  }
};

// With work vectors of type T, as those of CgOf.
template <class T>
struct SingleReductionCgOf : SystemVectors {
  static constexpr MethodInfo info = Cg::info;
  static constexpr Variant variant = Variant::single_reduction;
  static constexpr int vectors = kIsFloat<T> ? 4 : 5;
  static constexpr int pointwise_vectors = vectors;
  static constexpr int scalars = 4;
  static constexpr int directions[1] = {2};      // p
  static constexpr int left_behind[2] = {1, 2};  // u p
  static constexpr bool x_is_late = kIsFloat<T>;

  using Narrow = SingleReductionCgOf<float>;

  T* r;
  T* u;  // M^-1 r
  T* p;
  T* w;           // A u
  T* s;           // A p
  T* steps;       // the sum of alpha p: x, or in FP32 what x lacks, in the unit
  T* change;      // of r, in corrections, in the memory of w
  double* left;   // FP32: p of a stopped solve, in the memory of r and u
  double* exact;  // a product in FP64; FP64: in the memory of w

  template <class Work>
  TRIREME_HD static SingleReductionCgOf with(const SystemVectors& v, const Work& work) {
    if constexpr (kIsFloat<T>)
      return {{v},
              work.in_fp32(4),
              work.in_fp32(5),
              work.in_fp32(0),
              work.in_fp32(2),
              work.in_fp32(3),
              work.in_fp32(1),
              work.in_fp32(2),
              work(2),
              work(3)};
    else
      return {{v}, work(0), work(1), work(2), work(3), work(4), v.x, work(3), nullptr, work(3)};
  }
  const T* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return exact; }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    true_residual(e, *this, m, true, r, p, exact);
    e.finish(SetReference{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    if constexpr (kIsFloat<T>) e.pass(ForgetSteps{steps});
    true_residual(e, *this, m, x_is_zero, r, u, exact);  // r = b - A x, u = M^-1 r
    e.product_and_dot(u, w, SingleReductionBegin{});     // w = A u, alpha = r.u / u.w
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = D^-1 r
    by_weights(e, norm, [&](auto weighed) {
      e.pass(SingleReductionUpdate<weighed.value, T>{steps, r, p, s, u, w, pointwise_part<T>(m),
                                                     !M::pointwise, norm});
    });
    if constexpr (!M::pointwise) {
      e.forget_sums();
      m.apply(e, r, u);  // u = M^-1 r
      norms_of_residual(e);
    }
    e.product_and_dot(u, w, SingleReductionImprove{});  // w = A u, alpha, beta
    complete_x_at_times(e, steps, x);
  }

  // p and s = A p remain those of the last iteration.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, exact);
    if constexpr (kIsFloat<T>) e.finish(RenewUnit{});
    if constexpr (M::pointwise) {
      e.pass(CorrectResidualOf<T>{b, exact, r, u, nullptr, pointwise_part<T>(m), norm});
    } else {
      e.pass(ChangeResidualOf<T>{b, exact, r, change, norm});
      m.apply(e, r, u);
      norms_of_residual(e);
    }
    e.product_and_dot(u, w, SingleReductionCorrect{});  // w = A u
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    if constexpr (kIsFloat<T>) {
      e.pass(ForgetSteps{steps});
      e.exact_product(x, exact);
      e.pass(SquaredNorm{b, exact}, SetUnit{});
      e.pass(IntoUnit{left, p});
    }
    true_residual(e, *this, m, false, r, u, exact);  // r = b - A x, u = M^-1 r
    e.finish(CgGoOn{});                              // rho = r.u
    first_step(e, *this, m, r, u, p, s);
    e.pass(Advance<T>{steps, p});                    // x += alpha p
    e.product_and_dot(u, w, SingleReductionGoOn{});  // w = A u, alpha
  }

  // p becomes the next direction, the same as in Cg, so that either variant can go on.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void leave_direction(Exec& e, const M&) const {
    e.pass(NextDirection<T>{p, u});
    if constexpr (kIsFloat<T>) e.pass(OutOfUnit{p, left});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec>
  TRIREME_HD void complete_x(Exec& e) const {
    if constexpr (kIsFloat<T>) e.pass(AddSteps{steps, x});
  }

 private:
  TRIREME_RUNS_EXECUTOR
  template <class Exec>
  TRIREME_HD void norms_of_residual(Exec& e) const {
    by_weights(e, norm, [&](auto weighed) { e.pass(ResidualNorms<weighed.value, T>{r, u, norm}); });
  }
};
using SingleReductionCg = SingleReductionCgOf<double>;

}  // namespace trireme::solvers
