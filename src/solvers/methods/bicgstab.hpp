// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992), preconditioned from the right.
//
// Values moved per iteration beside the two products (n: rows), with Jacobi, 20n (17n with a
// constant diagonal, which is not read); PETSc's KSPBCGS moves some 30n:
//   r0.v                                          2n
//   s = r - alpha v, s^ = D^-1 s                  5n  (r v d, r s^)
//   t.s, t.t, r0.s, r0.t                          3n
//   x, r and p^ at once, r0.r                    11n  (x r p^ s^ t v d r0, x r p^)
// An iteration has two points where sums must be complete, instead of three: rho' = r0.r is
// r0.s - omega r0.t, known together with omega (and summed anew for the next iteration), and r.r is
// tested together with the next r0.v. For inexact products see correction.hpp; the change of p^ is
// from Sleijpen and van der Vorst, Computing 56, 1996.
#pragma once

#include "solvers/methods/bicgstab_steps.hpp"

namespace trireme::solvers {

// With work vectors of type T, as those of CgOf.
template <class T>
struct BicgstabOf : SystemVectors {
  static constexpr MethodInfo info{.name = "bicgstab",
                                   .petsc_name = "bcgs",
                                   .matrices = "any square",
                                   .right_preconditioned = true,
                                   .products = 2};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = kIsFloat<T> ? 5 : 7;
  static constexpr int pointwise_vectors = vectors;
  static constexpr int scalars = 1;
  static constexpr int directions[2] = {1, 2};      // r0 p
  static constexpr int left_behind[3] = {1, 2, 3};  // r0 p p^

  static constexpr bool x_is_late = kIsFloat<T>;

  using Narrow = BicgstabOf<float>;

  T* r;             // the residual; s within an iteration
  T* r0;            // the shadow residual
  T* p;             // in the loop only where M is not pointwise
  T* p_hat;         // M^-1 p
  T* v;             // A p^
  T* s_hat;         // M^-1 s
  T* t;             // A s^
  T* steps;         // the sum of the steps: x, or in FP32 what x lacks, in the unit
  double* left_r0;  // r0 and p of a stopped solve; FP32: in the memory of r, and of v and s_hat
  double* left_p;
  double* exact;  // a product in FP64, in the memory of t

  template <class Work>
  TRIREME_HD static BicgstabOf with(const SystemVectors& v, const Work& work) {
    if constexpr (kIsFloat<T>)
      return {{v},
              work.in_fp32(2),
              work.in_fp32(0),
              work.in_fp32(6),
              work.in_fp32(7),
              work.in_fp32(4),
              work.in_fp32(5),
              work.in_fp32(8),
              work.in_fp32(1),
              work(1),
              work(2),
              work(4)};
    else
      return {{v},     work(0), work(1), work(2), work(3), work(4),
              work(5), work(6), v.x,     work(1), work(2), work(6)};
  }
  const T* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return exact; }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M& m) const {
    if constexpr (kIsFloat<T>) e.pass(SquaredNorm{b, nullptr}, SetUnit{});
    e.pass(ShadowResidual<T>{b, nullptr, r, r0, nullptr, p_hat, pointwise_part<T>(m), norm});
    e.finish(SetRightReference{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    if constexpr (kIsFloat<T>) e.pass(ForgetSteps{steps});
    if (!x_is_zero) e.exact_product(x, exact);
    const double* const product = x_is_zero ? nullptr : exact;
    if constexpr (kIsFloat<T>) e.pass(SquaredNorm{b, product}, SetUnit{});
    e.pass(ShadowResidual<T>{b, product, r, r0, M::pointwise ? nullptr : p, p_hat,
                             pointwise_part<T>(m), norm});
    if constexpr (!M::pointwise) m.apply(e, p, p_hat);  // p^ = M^-1 p
    e.product(p_hat, v);                                // v = A p^
    e.pass(DotOf<T>{r0, v}, BicgstabBegin{});           // alpha = rho / r0.v
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    e.pass(HalfStep<T>{r, v, s_hat, pointwise_part<T>(m)});  // s = r - alpha v, s^ = M^-1 s
    if constexpr (!M::pointwise) m.apply(e, r, s_hat);
    e.product(s_hat, t);                               // t = A s^
    e.pass(StabilizerDots<T>{t, r, r0}, Stabilize{});  // omega = t.s / t.t, rho', beta
    // x += alpha p^ + omega s^, r = s - omega t, p^ = M^-1 (r + beta (p - omega v))
    if constexpr (M::pointwise) {
      by_weights(e, norm, [&](auto weighed) {
        e.pass(FullStep<true, weighed.value, T>{steps, r, p_hat, nullptr, s_hat, t, v, r0,
                                                pointwise_part<T>(m), norm});
      });
    } else {
      by_weights(e, norm, [&](auto weighed) {
        e.pass(FullStep<false, weighed.value, T>{steps, r, p, p_hat, s_hat, t, v, r0,
                                                 DiagonalOf<T>{}, norm});
      });
      m.apply(e, p, p_hat);
    }
    e.product(p_hat, v);                         // v = A p^
    e.pass(DotOf<T>{r0, v}, BicgstabImprove{});  // ||r||, alpha = rho / r0.v
    complete_x_at_times(e, steps, x);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec& e, const M& m) const {
    e.exact_product(x, exact);
    if constexpr (kIsFloat<T>) e.finish(RenewUnit{});
    e.pass(CorrectRightResidual<T>{b, exact, r, r0, M::pointwise ? nullptr : p, p_hat,
                                   pointwise_part<T>(m), norm});
    if constexpr (!M::pointwise) m.apply(e, p, p_hat);
    e.product(p_hat, v);                         // v = A p^
    e.pass(DotOf<T>{r0, v}, BicgstabCorrect{});  // alpha = rho / r0.v
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    e.exact_product(x, exact);
    if constexpr (kIsFloat<T>) {
      e.pass(ForgetSteps{steps});
      e.pass(SquaredNorm{b, exact}, SetUnit{});
      e.pass(IntoUnit{left_r0, r0});
      if constexpr (!M::pointwise) e.pass(IntoUnit{left_p, p});
    }
    e.pass(GoOnResidual<T>{b, exact, r, r0, left_p, p_hat, pointwise_part<T>(m), norm});
    if constexpr (!M::pointwise) m.apply(e, p, p_hat);  // p^ = M^-1 p
    e.product(p_hat, v);                                // v = A p^
    e.pass(DotOf<T>{r0, v}, BicgstabGoOn{});            // rho = r0.r, alpha = rho / r0.v
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec>
  TRIREME_HD void complete_x(Exec& e) const {
    if constexpr (kIsFloat<T>) e.pass(AddSteps{steps, x});
  }

  // If M is pointwise, the loop has p^ only, and p is computed from it.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void leave_direction(Exec& e, const M& m) const {
    if constexpr (kIsFloat<T>) e.pass(OutOfUnit{r0, left_r0});
    if constexpr (M::pointwise)
      e.pass(PlainDirection<T>{left_p, p_hat, pointwise_part<T>(m)});
    else if constexpr (kIsFloat<T>)
      e.pass(OutOfUnit{p, left_p});
  }
};
using Bicgstab = BicgstabOf<double>;

}  // namespace trireme::solvers
