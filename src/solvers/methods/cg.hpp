// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method with the fewest values moved (Hestenes and Stiefel, J. Res. NBS 49,
// 1952):
//
//   r = b - A x, z = M^-1 r, p = z, rho = r.z      start():     true_residual, CgBegin
//   repeat                                         iteration():
//     q = A p, alpha = rho / p.q                     product_and_dot, CgStepLength
//     r -= alpha q                                   CgResidual
//     z = M^-1 r, rho' = r.z                         in CgResidual with Jacobi, else m.apply
//     beta = rho' / rho, rho = rho'                  CgImprove, which judges the norm
//     x += alpha p, p = z + beta p                   CgDirection, also after the last iteration
//
// Values moved per iteration beside the product (n: rows), with Jacobi, 10n (8n with a constant
// diagonal, which is not read); PETSc's KSPCG moves 17n:
//   r -= alpha q           4n  (r q d, r)
//   x += alpha p, p = ..   6n  (x p r d, x p)
// and 2n for p.q where the product cannot sum p.q as it goes. An iteration has two points where
// sums must be complete; single_reduction_cg.hpp has one. What resumes a stopped solve is in
// cg_go_on.hpp.
#pragma once

#include "solvers/methods/cg_go_on.hpp"
#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

// x += alpha p, p = D^-1 z + beta p. Either z is r, or z is preconditioned and D = 1. Moves 6n
// values (5n without a diagonal array). In FP32, x is CgOf::steps.
template <class T>
struct CgDirection {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  T* x;
  T* p;
  const T* z;
  DiagonalOf<T> inverse;

  struct Row {
    T x, p, z, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {x[i], p[i], z[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.x = static_cast<T>(wide(row.x) + s.alpha * wide(row.p));
    row.p = static_cast<T>(wide(row.inverse) * wide(row.z) + s.beta * wide(row.p));
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    p[i] = row.p;
  }
  TRIREME_HD auto in_fours() const requires(std::is_same_v<T, float>) {
    return CgDirection<Four<float>>{solvers::in_fours(x), solvers::in_fours(p),
                                    solvers::in_fours(z), solvers::in_fours(inverse)};
  }
};

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
    const bool without_z = s.needs_no_z != 0;
    s.needs_no_z = 0;
    // Where z was not computed, the loop ends, and r.z means nothing.
    if (without_z)
      cg_improve(s, s.rho, s.square_without_z, 0);
    else
      cg_improve(s, sum[0], sum[1], sum[0] / s.rho);
  }
};

// From {r.r, norm term} of a residual that is not preconditioned yet.
struct CgNoteWhetherLast {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (live(s)) note_whether_last(s, sum[1]);
  }
};

// From {term of the change, r.z, norm term} of a corrected residual.
struct CgCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double last = s.rho;
    s.rho = sum[1];
    resume(s, chosen_norm(s, sum[1], sum[2]), s.unit * sqrt(sum[0]));
    if (running(s)) check_preconditioner(s, s.rho, last);
  }
};

// With work vectors of type T, double or float. In FP32 the steps of iterations are added up apart
// from x, to which they go after each round and at the end. x itself and sums stay in FP64, and
// so does what a stopped solve leaves.
template <class T>
struct CgOf : SystemVectors {
  static constexpr MethodInfo info{.name = "cg",
                                   .petsc_name = "cg",
                                   .matrices = "symmetric and definite",
                                   .symmetric = true,
                                   .tests_preconditioned_norm = true,
                                   .tests_natural_norm = true};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = kIsFloat<T> ? 4 : 5;
  static constexpr int pointwise_vectors = kIsFloat<T> ? 3 : 4;
  static constexpr int scalars = 2;
  static constexpr int directions[1] = {2};   // p
  static constexpr int left_behind[1] = {2};  // what leave_direction() starts from

  static constexpr bool x_is_late = kIsFloat<T>;

  using Narrow = CgOf<float>;

  T* r;
  T* z;  // M^-1 r where M is not pointwise
  T* p;
  T* q;           // A p
  T* s;           // the change of r, in corrections
  T* steps;       // the sum of alpha p: x, or in FP32 what x lacks, in the unit
  double* left;   // FP32: p of a stopped solve, in the memory of r and z
  double* exact;  // a product in FP64, in the memory of q

  template <class Work>
  TRIREME_HD static CgOf with(const SystemVectors& v, const Work& work) {
    if constexpr (kIsFloat<T>)
      return {{v},
              work.in_fp32(4),
              work.in_fp32(5),
              work.in_fp32(0),
              work.in_fp32(2),
              work.in_fp32(6),
              work.in_fp32(1),
              work(2),
              work(1)};
    else
      return {{v}, work(0), work(1), work(2), work(3), work(4), v.x, nullptr, work(3)};
  }
  // When an observer is told of an iteration, x is one step in this direction behind r.
  const T* lagging_direction() const { return p; }
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
    true_residual(e, *this, m, x_is_zero, r, p, exact);  // r = b - A x, p = M^-1 r
    e.finish(CgBegin{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    // q = A p, alpha = rho / p.q, r -= alpha q
    if constexpr (M::pointwise) {
      by_weights(e, norm, [&](auto weighed) {  // and rho', beta
        product_and_pass(e, p, q, CgStepLength{},
                         CgResidual<weighed.value, T>{r, q, pointwise_part<T>(m), norm},
                         CgImprove{});
      });
      e.pass(
          CgDirection<T>{steps, p, r, pointwise_part<T>(m)});  // x += alpha p, p = D^-1 r + beta p
    } else {
      by_weights(e, norm, [&](auto weighed) {
        product_and_pass(e, p, q, CgStepLength{},
                         CgResidual<weighed.value, T>{r, q, DiagonalOf<T>{}, norm},
                         CgNoteWhetherLast{});
      });
      m.apply(e, r, z);                        // z = M^-1 r
      by_weights(e, norm, [&](auto weighed) {  // rho' = r.z, beta = rho' / rho
        e.pass(ResidualNorms<weighed.value, T>{r, z, norm}, CgImprove{});
      });
      e.pass(CgDirection<T>{steps, p, z, DiagonalOf<T>{}});  // x += alpha p, p = z + beta p
    }
    complete_x_at_times(e, steps, x);
  }

  // Replaces r by b - A x. z and p change by M^-1 times the change of r.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, exact);
    if constexpr (kIsFloat<T>) e.finish(RenewUnit{});
    if constexpr (M::pointwise) {
      e.pass(CorrectResidualOf<T>{b, exact, r, z, p, pointwise_part<T>(m), norm});
    } else {
      e.pass(ChangeResidualOf<T>{b, exact, r, s, norm});
      m.apply(e, s, q);
      e.pass(ChangeDirectionOf<T>{q, r, z, p, norm});
    }
    e.finish(CgCorrect{});
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
    true_residual(e, *this, m, false, r, z, exact);  // r = b - A x, z = M^-1 r
    e.finish(CgGoOn{});                              // rho = r.z
    first_step(e, *this, m, r, z, p, q);
    e.pass(CgDirection<T>{steps, p, z, DiagonalOf<T>{}});  // x += alpha p, p = z + beta p
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec>
  TRIREME_HD void complete_x(Exec& e) const {
    if constexpr (kIsFloat<T>) e.pass(AddSteps{steps, x});
  }

  template <class Exec, class M>
  void leave_direction(Exec& e, const M&) const {  // p is the next direction
    if constexpr (kIsFloat<T>) e.pass(OutOfUnit{p, left});
  }
};
using Cg = CgOf<double>;

}  // namespace trireme::solvers
