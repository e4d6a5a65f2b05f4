// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method with the fewest values moved (Hestenes and Stiefel, J. Res. NBS 49,
// 1952).
//
// Values moved per iteration beside the product (n: rows), with Jacobi, 10n (8n with a constant
// diagonal, which is not read); PETSc's KSPCG moves 17n:
//   r -= alpha q           4n  (r q d, r)
//   x += alpha p, p = ..   6n  (x p r d, x p)
// and 2n for p.q where the product cannot sum p.q as it goes. An iteration has two points where
// sums must be complete; single_reduction_cg.hpp has one.
#pragma once

#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

// The first p.Ap of a solve, whose sign must never change.
TRIREME_HD double& first_curvature(State& s) { return s.scalar[0]; }
// p.Ap of the last direction.
TRIREME_HD double& last_curvature(State& s) { return s.scalar[1]; }

// PETSc's rule: p.Ap must be nonzero and never change its sign.
TRIREME_HD void check_curvature(State& s, double curvature) {
  if (!is_finite(curvature)) return abandon(s, Reason::not_finite);
  if (first_curvature(s) == 0) first_curvature(s) = curvature;
  if (curvature == 0 || (curvature < 0) != (first_curvature(s) < 0))
    abandon(s, Reason::indefinite_matrix);
}

// r -= alpha q; sums {r.D^-1 r, norm term}. Moves 4n values (3n without a diagonal array).
template <bool weighed>
struct CgResidual {
  static constexpr int sums = 2;
  static constexpr bool always = false;
  double* r;
  const double* q;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double r, q, inverse;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {r[i], q[i], inverse[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    row.r -= s.alpha * row.q;
    const double z = row.inverse * row.r;
    sum[0] += row.r * z;
    sum[1] += row.weight.term(row.r, z, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { r[i] = row.r; }
};

// x += alpha p, p = D^-1 z + beta p. Either z is r, or z is preconditioned and D = 1. Moves 6n
// values (5n without a diagonal array).
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

// From {r.z, norm term} of a true residual, with which a solve begins or goes on.
template <Entry entry>
struct CgEnter {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.rho = sum[0];
    enter<entry>(s, chosen_norm(s, sum[0], sum[1]));
    if (running(s)) check_preconditioner(s, s.rho, s.rho);
  }
};
using CgBegin = CgEnter<Entry::begin>;
using CgGoOn = CgEnter<Entry::go_on>;

// The end of an iteration, whose pass with x += alpha p still follows.
TRIREME_HD void cg_improve(State& s, double rho, double squared, double beta) {
  const double last = s.rho;
  s.rho = rho;
  s.beta = beta;
  ++s.iterations;
  judge(s, chosen_norm(s, rho, squared));
  if (running(s)) check_preconditioner(s, rho, last);
}

// From {p.Ap}: alpha = rho / p.Ap
struct CgStepLength {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    close_iteration(s);
    if (!live(s)) return;
    check_curvature(s, sum[0]);
    s.alpha = s.rho / sum[0];
  }
};

// From {r.z, norm term}: beta = rho' / rho. The pass with x += alpha p still follows.
struct CgImprove {
  static constexpr bool ends_iteration = true;
  static constexpr bool has_tail = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s)) return;
    const bool spared = s.spares != 0;
    s.spares = 0;
    // Where z was spared, the loop ends, and r.z means nothing.
    if (spared)
      cg_improve(s, s.rho, s.spared_square, 0);
    else
      cg_improve(s, sum[0], sum[1], sum[0] / s.rho);
  }
};

// From {r.r, norm term} of a residual that is not preconditioned yet.
struct CgForesee {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (live(s)) foresee(s, sum[1]);
  }
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

// From {term of the change, r.z, norm term} of a corrected residual.
struct CgCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double last = s.rho;
    s.rho = sum[1];
    resume(s, chosen_norm(s, sum[1], sum[2]), sqrt(sum[0]));
    if (running(s)) check_preconditioner(s, s.rho, last);
  }
};

// One iteration that stands in place of a start. Its formulas hold for any direction p that a
// stopped solve has left: they make r orthogonal to p, and the next direction conjugate to p. From
// there the formulas of the loop hold. (After rounding, or with an inexact product, p does not
// exactly fit r = b - A x.) `q` becomes A p, and z becomes M^-1 r.
TRIREME_EXECUTOR_TEXT
template <class Exec, class M>
TRIREME_HD void first_iteration(Exec& e, const SystemVectors& v, const M& m, double* r, double* z,
                                const double* p, double* q) {
  true_residual(e, v, m, false, r, z, q);  // r = b - A x, z = M^-1 r
  e.finish(CgGoOn{});                      // rho = r.z
  e.pass(Dot{r, p});
  e.product_and_dot(p, q, GoOnStepLength{});            // q = A p, alpha = r.p / p.q
  e.pass(CgResidual<false>{r, q, Diagonal{}, v.norm});  // r -= alpha q
  e.forget_sums();
  if constexpr (M::pointwise) {
    e.pass(TrueResidual{r, nullptr, r, z, pointwise_part(m), v.norm});  // z = D^-1 r
  } else {
    m.apply(e, r, z);
    by_weights(e, v.norm, [&](auto weighed) {
      e.pass(ResidualNorms<weighed.value>{r, z, v.norm});
    });
  }
  e.pass(Dot{z, q}, GoOnImprove{});  // rho' = r.z, beta = - z.q / p.q
}

struct Cg : SystemVectors {
  static constexpr MethodInfo info{.name = "cg",
                                   .petsc_name = "cg",
                                   .matrices = "symmetric and definite",
                                   .symmetric = true,
                                   .tests_preconditioned_norm = true,
                                   .tests_natural_norm = true};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = 5;
  static constexpr int pointwise_vectors = 4;  // with a pointwise preconditioner
  static constexpr int scalars = 2;
  static constexpr int directions[] = {2};   // p
  static constexpr int left_behind[] = {2};  // what leave_direction() starts from

  double* r;
  double* z;  // M^-1 r where M is not pointwise
  double* p;
  double* q;  // A p
  double* s;  // the preconditioned change of r, in corrections

  template <class Work>
  TRIREME_HD static Cg with(const SystemVectors& v, const Work& work) {
    return {v, work(0), work(1), work(2), work(3), work(4)};
  }
  // When an observer is told of an iteration, x is one step in this direction behind r.
  const double* lagging_direction() const { return p; }
  TRIREME_HD double* product_vector() const { return q; }

  TRIREME_EXECUTOR_TEXT
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    true_residual(e, *this, m, true, r, p, q);
    e.finish(SetReference{});
  }

  TRIREME_EXECUTOR_TEXT
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    true_residual(e, *this, m, x_is_zero, r, p, q);  // r = b - A x, p = M^-1 r
    e.finish(CgBegin{});
  }

  TRIREME_EXECUTOR_TEXT
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    e.product_and_dot(p, q, CgStepLength{});  // q = A p, alpha = rho / p.q
    if constexpr (M::pointwise) {
      by_weights(e, norm, [&](auto weighed) {  // r -= alpha q, rho', beta
        e.pass(CgResidual<weighed.value>{r, q, pointwise_part(m), norm}, CgImprove{});
      });
      e.pass(CgDirection{x, p, r, pointwise_part(m)});  // x += alpha p, p = D^-1 r + beta p
    } else {
      by_weights(e, norm, [&](auto weighed) {  // r -= alpha q
        e.pass(CgResidual<weighed.value>{r, q, Diagonal{}, norm}, CgForesee{});
      });
      m.apply(e, r, z);                        // z = M^-1 r
      by_weights(e, norm, [&](auto weighed) {  // rho' = r.z, beta = rho' / rho
        e.pass(ResidualNorms<weighed.value>{r, z, norm}, CgImprove{});
      });
      e.pass(CgDirection{x, p, z, Diagonal{}});  // x += alpha p, p = z + beta p
    }
  }

  // Replaces r by b - A x. z and p change by M^-1 times the change of r.
  TRIREME_EXECUTOR_TEXT
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, q);
    if constexpr (M::pointwise) {
      e.pass(CorrectResidual{b, q, r, z, p, pointwise_part(m), norm});
    } else {
      e.pass(ChangeResidual{b, q, r, norm});
      m.apply(e, q, s);
      e.pass(ChangeDirection{s, r, z, p, norm});
    }
    e.finish(CgCorrect{});
  }

  TRIREME_EXECUTOR_TEXT
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    first_iteration(e, *this, m, r, z, p, q);
    e.pass(CgDirection{x, p, z, Diagonal{}});  // x += alpha p, p = z + beta p
  }

  template <class Exec, class M>
  void leave_direction(Exec&, const M&) const {}  // p is the next direction
};

}  // namespace trireme::solvers
