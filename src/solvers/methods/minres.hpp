// SPDX-License-Identifier: BSD-3-Clause
// The minimum residual method for symmetric systems, definite or not (Paige and Saunders, SIAM J.
// Numer. Anal. 12, 1975), preconditioned by a positive definite M (Elman, Silvester and Wathen,
// Finite Elements and Fast Iterative Solvers, algorithm 4.1).
//
// Lanczos vectors v_j are those of the residual space, z_j = M^-1 v_j, and gamma_j = sqrt(z_j.v_j).
// The method minimises the natural norm ||r||_M^-1 = |eta|. The residual itself is carried along,
//   r_j = s_j^2 r_{j-1} + c_j eta_j v_{j+1} / gamma_{j+1}
// (Choi, Paige and Saunders, SIAM J. Sci. Comput. 33, 2011), so that ||b - A x|| can be tested.
//
// Values moved per iteration beside the product (n: rows), with Jacobi, 18n (16n with a constant
// diagonal, which is not read):
//   v_{j+1}                6n  (q v v' d, v v')
//   w, x, r, z            12n  (v v' w w' x r d, w w' x r z)
// An iteration has two points where sums must be complete: ||r|| is tested together with the next
// z.A z.
#pragma once

#include <array>

#include "solvers/methods/common_passes.hpp"

namespace trireme::solvers {

// The scalars of the last Lanczos step and of the last two rotations, and the coefficients of w.
struct MinresScalars {
  enum : int {
    gamma,
    cosine,
    last_cosine,
    sine,
    last_sine,
    eta,
    step,
    from_z,
    from_w,
    from_last_w
  };
};
static_assert(MinresScalars::from_last_w < kMaxScalars);

// r = b - q (q null: r = b), v = r, z = D^-1 r, and the vectors before the first are zero; sums
// {r.z, norm term}.
struct MinresStart {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  double* z;
  double* v;
  double* last_v;
  double* w;
  double* last_w;
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
    r[i] = v[i] = row.r;
    z[i] = row.z;
    last_v[i] = w[i] = last_w[i] = 0;
  }
};

// v_{j+1} = A z_j / gamma_j - alpha v_j - beta v_{j-1}; sum v.D^-1 v.
struct LanczosStep {
  static constexpr int sums = 1;
  static constexpr bool always = false;
  const double* q;  // A z_j
  double* v;
  double* last_v;
  Diagonal inverse;

  struct Row {
    double q, v, last_v, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {q[i], v[i], last_v[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    const double next =
        row.q * (1 / s.scalar[MinresScalars::gamma]) - s.alpha * row.v - s.beta * row.last_v;
    row.last_v = row.v;
    row.v = next;
    sum[0] += next * row.inverse * next;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    v[i] = row.v;
    last_v[i] = row.last_v;
  }
};

// last_z = z: a preconditioner that is not pointwise is about to replace z.
struct KeepZ {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  const double* z;
  double* last_z;

  struct Row {
    double z;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {z[i]}; }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { last_z[i] = row.z; }
};

// w_j from z_j and the two w before; x += step w_j, r = sine^2 r + (cosine eta / gamma) v; where M
// is pointwise also z = D^-1 v. Sum: the norm term of r.
template <bool pointwise, bool weighed>
struct MinresUpdate {
  static constexpr int sums = 1;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* w;
  double* last_w;
  const double* v;
  const double* old;  // pointwise: v_j, of which z_j = D^-1 v_j; otherwise z_j
  double* z;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double x, r, w, last_w, v, old, inverse;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i],   w[i],       last_w[i],
            v[i], old[i], inverse[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    using S = MinresScalars;
    const double next = s.scalar[S::from_z] * row.inverse * row.old -
                        s.scalar[S::from_last_w] * row.last_w - s.scalar[S::from_w] * row.w;
    row.last_w = row.w;
    row.w = next;
    row.x += s.scalar[S::step] * next;
    // gamma = 0: the Lanczos process has ended, and so has the residual.
    const double gamma = s.scalar[S::gamma];
    const double from_v = gamma > 0 ? s.scalar[S::cosine] * s.scalar[S::eta] / gamma : 0;
    row.r = s.scalar[S::sine] * s.scalar[S::sine] * row.r + from_v * row.v;
    sum[0] += row.weight.term(row.r, row.inverse * row.r, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    w[i] = row.w;
    last_w[i] = row.last_w;
    if (pointwise) z[i] = row.inverse * row.v;
  }
};

// The norm that is tested: the norm of the residual that is carried along, or the natural norm
// |eta|.
TRIREME_HD double minres_norm(const State& s, double squared) {
  return chosen_norm(s, s.scalar[MinresScalars::eta] * s.scalar[MinresScalars::eta], squared);
}

// From z_j.A z_j: alpha = delta / gamma_j with delta = z.A z / gamma_j^2.
TRIREME_HD void minres_curvature(State& s, double z_az) {
  if (!is_finite(z_az)) return abandon(s, Reason::not_finite);
  const double gamma = s.scalar[MinresScalars::gamma];
  s.alpha = z_az / (gamma * gamma) / gamma;
}

// The scalars before the first Lanczos step, from {r.z, norm term, z.A z} of a true residual.
template <Entry entry>
struct MinresEnter {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    using S = MinresScalars;
    s.rho = sum[0];
    enter<entry>(s, chosen_norm(s, sum[0], sum[1]));
    s.correct_at = 0;  // at a claim only: a correction would begin a new Lanczos process
    if (running(s)) check_preconditioner(s, s.rho, 1);
    s.beta = 0;
    s.scalar[S::gamma] = s.scalar[S::eta] = sqrt(fabs(s.rho));
    s.scalar[S::cosine] = s.scalar[S::last_cosine] = 1;
    s.scalar[S::sine] = s.scalar[S::last_sine] = 0;
    if (running(s)) minres_curvature(s, sum[2]);
    close_iteration(s);
  }
};

// From {v.z} of the new Lanczos vector: gamma_{j+1}, and the rotation that makes its column of the
// tridiagonal matrix upper triangular.
struct MinresRotate {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    using S = MinresScalars;
    if (!live(s)) return;
    if (!is_finite(sum[0])) return abandon(s, Reason::not_finite);
    if (sum[0] < 0) return abandon(s, Reason::indefinite_preconditioner);
    const double gamma = s.scalar[S::gamma], next_gamma = sqrt(sum[0]);
    const double delta = s.alpha * gamma;
    const double cosine = s.scalar[S::cosine], sine = s.scalar[S::sine];
    const double below = cosine * delta - s.scalar[S::last_cosine] * sine * gamma;
    const double diagonal = hypot(below, next_gamma);
    if (diagonal == 0) return abandon(s, Reason::breakdown);  // A is singular, b not in its range
    s.scalar[S::from_z] = 1 / (gamma * diagonal);
    s.scalar[S::from_w] = (sine * delta + s.scalar[S::last_cosine] * cosine * gamma) / diagonal;
    s.scalar[S::from_last_w] = s.scalar[S::last_sine] * gamma / diagonal;
    s.scalar[S::last_cosine] = cosine;
    s.scalar[S::last_sine] = sine;
    s.scalar[S::cosine] = below / diagonal;
    s.scalar[S::sine] = next_gamma / diagonal;
    s.scalar[S::step] = s.scalar[S::cosine] * s.scalar[S::eta];
    s.scalar[S::eta] *= -s.scalar[S::sine];
    s.beta = next_gamma / gamma;
    s.scalar[S::gamma] = next_gamma;
    s.rho = sum[0];
  }
};

// From {norm term, z.A z}: the norm, and the next alpha.
struct MinresImprove {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    ++s.iterations;
    judge(s, minres_norm(s, sum[0]));
    if (running(s) && s.rho == 0) stop(s, Reason::atol);
    if (running(s)) minres_curvature(s, sum[1]);
    close_iteration(s);
  }
};

struct Minres : SystemVectors {
  static constexpr MethodInfo info{.name = "minres",
                                   .petsc_name = "minres",
                                   .matrices = "symmetric, definite or not",
                                   .symmetric = true,
                                   .positive_preconditioner = true,
                                   .tests_natural_norm = true};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = 8;
  static constexpr int pointwise_vectors = 7;
  static constexpr int scalars = 10;
  // A solve that goes on begins a new Lanczos process: no direction is kept.
  static constexpr std::array<int, 0> directions{};
  static constexpr std::array<int, 0> left_behind{};

  double* r;
  double* z;  // M^-1 v
  double* v;
  double* last_v;
  double* w;
  double* last_w;
  double* q;       // A z
  double* last_z;  // where M is not pointwise

  template <class Work>
  TRIREME_HD static Minres with(const SystemVectors& v, const Work& work) {
    return {v, work(0), work(1), work(2), work(3), work(4), work(5), work(6), work(7)};
  }
  const double* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return q; }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    true_residual(e, *this, m, true, r, z, q);
    e.finish(SetReference{});
  }

  // r = b - A x, z = M^-1 r, q = A z.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M, class Step>
  TRIREME_HD void begin_lanczos(Exec& e, const M& m, bool x_is_zero, const Step& step) const {
    if (!x_is_zero) e.exact_product(x, q);
    e.pass(MinresStart{b, x_is_zero ? nullptr : q, r, z, v, last_v, w, last_w, pointwise_part(m),
                       norm});
    if constexpr (!M::pointwise) {
      e.forget_sums();
      m.apply(e, r, z);
      by_weights(e, norm, [&](auto weighed) { e.pass(ResidualNorms<weighed.value>{r, z, norm}); });
    }
    e.product_and_dot(z, q, step);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    begin_lanczos(e, m, x_is_zero, MinresEnter<Entry::begin>{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    if constexpr (M::pointwise) {
      e.pass(LanczosStep{q, v, last_v, pointwise_part(m)}, MinresRotate{});
      by_weights(e, norm, [&](auto weighed) {
        e.pass(MinresUpdate<true, weighed.value>{x, r, w, last_w, v, last_v, z, pointwise_part(m),
                                                 norm});
      });
    } else {
      e.pass(LanczosStep{q, v, last_v, Diagonal{}});
      e.forget_sums();
      e.pass(KeepZ{z, last_z});
      m.apply(e, v, z);  // z = M^-1 v
      e.pass(Dot{v, z}, MinresRotate{});
      by_weights(e, norm, [&](auto weighed) {
        e.pass(MinresUpdate<false, weighed.value>{x, r, w, last_w, v, last_z, z, Diagonal{}, norm});
      });
    }
    e.product_and_dot(z, q, MinresImprove{});  // q = A z, ||r||
  }

  // Does nothing, so that a new start follows: the Lanczos vectors belong to one residual.
  template <class Exec, class M>
  TRIREME_HD void correct(Exec&, const M&) const {}

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    begin_lanczos(e, m, false, MinresEnter<Entry::go_on>{});
  }

  template <class Exec, class M>
  void leave_direction(Exec&, const M&) const {}
};

}  // namespace trireme::solvers
