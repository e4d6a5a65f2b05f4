// SPDX-License-Identifier: BSD-3-Clause
// BiCGStab(2) (Sleijpen and Fokkema, Electronic Transactions on Numerical Analysis 1, 1993,
// algorithm 3.1 with l = 2), preconditioned from the right.
//
// Each iteration does two steps of BiCG and then makes the residual as small as a polynomial of the
// second degree in A can, where BiCGSTAB has one of the first degree: eigenvalues near the
// imaginary axis, of flow and of circuits, let that polynomial do little. K is A M^-1, and v^ is
// M^-1 v:
//
//   r -= alpha Ku                                                              r^
//   Kr, beta = alpha (r0.Kr) / rho, u = r - beta u, Ku -= ..., (Ku)^           x += alpha u^
//   KKu, alpha = rho / r0.KKu, r -= alpha Ku, Kr -= alpha KKu                  (Kr)^
//   KKr, and g1, g2 that minimise ||r - g1 Kr - g2 KKr||
//   x, r and u at once, the next beta                                          u^
//   Ku, alpha = rho / r0.Ku
//
// The sums of the minimisation give r0.r of the next residual too, so that the pass that makes the
// residual makes the next direction. An iteration has four products, and five points of sums.
#pragma once

#include "solvers/methods/bicgstab.hpp"

namespace trireme::solvers {

// State::scalar: omega(), which is g2, comes first, as BicgstabImprove reads it.
TRIREME_HD double& first_gamma(State& s) { return s.scalar[1]; }
TRIREME_HD double first_gamma(const State& s) { return s.scalar[1]; }
TRIREME_HD double* kept_dots(State& s) { return s.scalar + 2; }

// r -= alpha Ku, r^ = D^-1 r. Moves 5n values.
using BicgStep = HalfStep<double>;

// x += alpha u^, u = r - beta u, Ku = Kr - beta Ku, u^ = r^ - beta u^, (Ku)^ = D^-1 Ku.
struct SecondDirection {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  double* x;
  double* u;
  double* u_hat;
  double* ku;
  double* ku_hat;
  const double* r;
  const double* r_hat;
  const double* kr;
  Diagonal inverse;

  struct Row {
    double x, u, u_hat, ku, r, r_hat, kr, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], u[i], u_hat[i], ku[i], r[i], r_hat[i], kr[i], inverse[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.x += s.alpha * row.u_hat;
    row.u = row.r - s.beta * row.u;
    row.u_hat = row.r_hat - s.beta * row.u_hat;
    row.ku = row.kr - s.beta * row.ku;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    u[i] = row.u;
    u_hat[i] = row.u_hat;
    ku[i] = row.ku;
    ku_hat[i] = row.inverse * row.ku;
  }
};

// x += alpha u^, r -= alpha Ku, r^ -= alpha (Ku)^, Kr -= alpha KKu, (Kr)^ = D^-1 Kr.
struct SecondStep {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* r_hat;
  double* kr;
  double* kr_hat;
  const double* u_hat;
  const double* ku;
  const double* ku_hat;
  const double* kku;
  Diagonal inverse;

  struct Row {
    double x, r, r_hat, kr, u_hat, ku, ku_hat, kku, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i], r[i], r_hat[i], kr[i], u_hat[i], ku[i], ku_hat[i], kku[i], inverse[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.x += s.alpha * row.u_hat;
    row.r -= s.alpha * row.ku;
    row.r_hat -= s.alpha * row.ku_hat;
    row.kr -= s.alpha * row.kku;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    r_hat[i] = row.r_hat;
    kr[i] = row.kr;
    kr_hat[i] = row.inverse * row.kr;
  }
};

// Sums {Kr.Kr, Kr.KKr, KKr.KKr, r.Kr}. Moves 3n values.
struct MinimiserDots {
  static constexpr int sums = 4;
  static constexpr bool always = false;
  const double* r;
  const double* kr;
  const double* kkr;

  struct Row {
    double r, kr, kkr;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], kr[i], kkr[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.kr * row.kr;
    sum[1] += row.kr * row.kkr;
    sum[2] += row.kkr * row.kkr;
    sum[3] += row.r * row.kr;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// Sums {r.KKr, r0.r, r0.Kr, r0.KKr}. Moves 4n values.
struct ShadowDots {
  static constexpr int sums = 4;
  static constexpr bool always = false;
  const double* r;
  const double* kr;
  const double* kkr;
  const double* r0;

  struct Row {
    double r, kr, kkr, r0;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], kr[i], kkr[i], r0[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.r * row.kkr;
    sum[1] += row.r0 * row.r;
    sum[2] += row.r0 * row.kr;
    sum[3] += row.r0 * row.kkr;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// x += g1 r^ + g2 (Kr)^, r -= g1 Kr + g2 KKr, u = r - beta (u - g1 Ku - g2 KKu), u^ = D^-1 u; sums
// {norm term, r0.r}.
template <bool weighed>
struct MinimalStep {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* x;
  double* r;
  double* u;
  double* u_hat;
  const double* r_hat;
  const double* kr;
  const double* kr_hat;
  const double* kkr;
  const double* ku;
  const double* kku;
  const double* r0;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double x, r, u, r_hat, kr, kr_hat, kkr, ku, kku, r0, inverse;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {x[i],   r[i],  u[i],   r_hat[i], kr[i],      kr_hat[i],
            kkr[i], ku[i], kku[i], r0[i],    inverse[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    const double g1 = first_gamma(s), g2 = omega(s);
    row.x += g1 * row.r_hat + g2 * row.kr_hat;
    row.r -= g1 * row.kr + g2 * row.kkr;
    row.u = row.r - s.beta * (row.u - g1 * row.ku - g2 * row.kku);
    sum[0] += row.weight.term(row.r, row.inverse * row.r, s);
    sum[1] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    r[i] = row.r;
    u[i] = row.u;
    u_hat[i] = row.inverse * row.u;
  }
};

// r = b - q replaces the recurrence's r, and u changes as r does; u^ = D^-1 u. Sums {term of the
// change of r, norm term, r0.r}.
struct CorrectBothResiduals {
  static constexpr int sums = 3;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  const double* r0;
  double* u;
  double* u_hat;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double r, change, r0, u, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i];
    return {exact, exact - r[i], r0[i], u[i], inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.u += row.change;
    sum[0] += norm(row.change, row.inverse * row.change, row.weight, s);
    sum[1] += norm(row.r, row.inverse * row.r, row.weight, s);
    sum[2] += row.r0 * row.r;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    u[i] = row.u;
    u_hat[i] = row.inverse * row.u;
  }
};

// From {r0.Kr}: beta, and rho of the second step.
struct SecondBeta {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    if (!is_finite(sum[0])) return abandon(s, Reason::not_finite);
    s.beta = s.alpha * sum[0] / s.rho;
    s.rho = sum[0];
  }
};

// From {r0.KKu}: alpha of the second step. Where the first step ended at the solution, all of it
// is 0.
struct SecondAlpha {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    if (!is_finite(sum[0])) return abandon(s, Reason::not_finite);
    s.alpha = sum[0] == 0 ? 0 : s.rho / sum[0];
  }
};

// The sums of MinimiserDots, for Minimise. (The persistent kernel exchanges four sums at once.)
struct KeepMinimiserDots {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    for (int k = 0; k < 4; ++k) kept_dots(s)[k] = sum[k];
  }
};

// From the sums of ShadowDots, and those that were kept: g1, g2, rho' = r0.r', and
// beta = -alpha rho' / (g2 rho).
struct Minimise {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    const double* const kept = kept_dots(s);
    const double a = kept[0], b = kept[1], c = kept[2], d = kept[3], e = sum[0];
    if (!is_finite(a) || !is_finite(b) || !is_finite(c) || !is_finite(e))
      return abandon(s, Reason::not_finite);
    // KKr less its part along Kr. Where nothing but rounding is left of it, as where a few huge
    // rows outweigh all others, two minimisations of the first degree follow each other instead.
    constexpr double kRounding = 1e-12;
    const double along = a > 0 ? b / a : 0;
    const double rest = c - along * b;
    double g1 = 0, g2 = 0;
    if (rest > kRounding * c) {
      g2 = (e - along * d) / rest;
      g1 = d / a - along * g2;
    } else if (a > 0) {
      const double one = d / a;
      const double size = a - one * (2 * b - one * c);
      const double two = size > 0 ? (d - one * (e + a) + one * one * b) / size : 0;
      g1 = one + two;
      g2 = -one * two;
    }
    first_gamma(s) = g1;
    omega(s) = g2;
    const double last = s.rho;
    s.rho = sum[1] - g1 * sum[2] - g2 * sum[3];
    s.beta = g2 == 0 || last == 0 ? 0 : -(s.alpha * s.rho) / (g2 * last);
  }
};

struct Bicgstab2 : SystemVectors {
  static constexpr MethodInfo info{.name = "bicgstab2",
                                   .petsc_name = "bcgsl",
                                   .matrices = "any square",
                                   .right_preconditioned = true,
                                   .products = 4};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = 11;
  static constexpr int pointwise_vectors = 11;
  static constexpr int scalars = 6;
  static constexpr int directions[] = {1, 2};   // r0 u
  static constexpr int left_behind[] = {1, 2};  // likewise

  double* r;       // the residual
  double* r0;      // the shadow residual
  double* u;       // the direction
  double* u_hat;   // M^-1 u
  double* ku;      // A M^-1 u
  double* r_hat;   // M^-1 r
  double* kr;      // A M^-1 r
  double* ku_hat;  // M^-1 Ku
  double* kku;     // A M^-1 Ku
  double* kr_hat;  // M^-1 Kr
  double* kkr;     // A M^-1 Kr

  template <class Work>
  TRIREME_HD static Bicgstab2 with(const SystemVectors& v, const Work& work) {
    return {v,       work(0), work(1), work(2), work(3), work(4),
            work(5), work(6), work(7), work(8), work(9), work(10)};
  }
  const double* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return ku; }

  // z = M^-1 v, where a pass has not made it.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void precondition(Exec& e, const M& m, const double* v, double* z) const {
    if constexpr (!M::pointwise) m.apply(e, v, z);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    e.pass(ShadowResidual<double>{b, nullptr, r, r0, nullptr, u_hat, pointwise_part(m), norm});
    e.finish(SetRightReference{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    if (!x_is_zero) e.exact_product(x, ku);
    e.pass(ShadowResidual<double>{b, x_is_zero ? nullptr : ku, r, r0, u, u_hat, pointwise_part(m),
                                  norm});
    precondition(e, m, u, u_hat);
    e.product(u_hat, ku);
    e.pass(Dot{r0, ku}, BicgstabBegin{});  // rho = r.r, alpha = rho / r0.Ku
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    const Diagonal inverse = pointwise_part(m);
    e.pass(BicgStep{r, ku, r_hat, inverse});
    precondition(e, m, r, r_hat);
    e.product(r_hat, kr);
    e.pass(Dot{r0, kr}, SecondBeta{});
    e.pass(SecondDirection{x, u, u_hat, ku, ku_hat, r, r_hat, kr, inverse});
    precondition(e, m, ku, ku_hat);
    e.product(ku_hat, kku);
    e.pass(Dot{r0, kku}, SecondAlpha{});
    e.pass(SecondStep{x, r, r_hat, kr, kr_hat, u_hat, ku, ku_hat, kku, inverse});
    precondition(e, m, kr, kr_hat);
    e.product(kr_hat, kkr);
    e.pass(MinimiserDots{r, kr, kkr}, KeepMinimiserDots{});
    e.pass(ShadowDots{r, kr, kkr, r0}, Minimise{});
    by_weights(e, norm, [&](auto weighed) {
      e.pass(MinimalStep<weighed.value>{x, r, u, u_hat, r_hat, kr, kr_hat, kkr, ku, kku, r0,
                                        inverse, norm});
    });
    precondition(e, m, u, u_hat);
    e.product(u_hat, ku);
    e.pass(Dot{r0, ku}, BicgstabImprove{});  // ||r||, alpha = rho / r0.Ku
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, ku);
    e.pass(CorrectBothResiduals{b, ku, r, r0, u, u_hat, pointwise_part(m), norm});
    precondition(e, m, u, u_hat);
    e.product(u_hat, ku);
    e.pass(Dot{r0, ku}, BicgstabCorrect{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    e.exact_product(x, ku);
    e.pass(GoOnResidual<double>{b, ku, r, r0, u, u_hat, pointwise_part(m), norm});
    precondition(e, m, u, u_hat);
    e.product(u_hat, ku);
    e.pass(Dot{r0, ku}, BicgstabGoOn{});
  }

  // u is at hand.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void leave_direction(Exec&, const M&) const {}
};

}  // namespace trireme::solvers
