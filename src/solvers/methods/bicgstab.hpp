// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB (van der Vorst 1992), preconditioned from the right, once for every executor.
//
// Values moved an iteration beside the two products (n: rows), with Jacobi, 20n (17n with a
// constant diagonal, which is not read); PETSc's KSPBCGS moves some 30n:
//   r0.v                                          2n
//   s = r - alpha v, s^ = D^-1 s                  5n  (r v d, r s^)
//   t.s, t.t, r0.s, r0.t                          3n
//   x, r and p^ at once, r0.r                    11n  (x r p^ s^ t v d r0, x r p^)
// Three points where sums must be complete became two: rho' = r0.r is r0.s - omega r0.t, known with
// omega (and summed anew for the iteration after), and r.r is judged together with the next r0.v.
#pragma once

#include "solvers/methods/bicgstab_passes.hpp"

namespace trireme::solvers {

struct BicgstabVectors {
  const double* b;
  double* x;
  double* r;      // and s
  double* r0;     // the shadow residual
  double* p;      // in the loop only where M is not pointwise
  double* p_hat;  // M^-1 p
  double* v;      // A p^
  double* s_hat;  // M^-1 s
  double* t;      // A s^
  bool zero_guess;
};

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab_start(Exec& e, const BicgstabVectors& v, const Preconditioner& m,
                               bool x_is_zero) {
  if (!x_is_zero) e.exact_product(v.x, v.v);
  e.pass(ShadowResidual{v.b, x_is_zero ? nullptr : v.v, v.r, v.r0, m.pointwise() ? nullptr : v.p,
                        v.p_hat, m.inverse_diagonal});
  if (!m.pointwise()) precondition(e, m, v.p, v.p_hat);  // p^ = M^-1 p
  e.product(v.p_hat, v.v);                               // v = A p^
  e.pass(Dot{v.r0, v.v}, BicgstabBegin{});               // alpha = rho / r0.v
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab_iteration(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  // s = r - alpha v, s^ = M^-1 s
  e.pass(HalfStep{v.r, v.v, v.s_hat, m.inverse_diagonal});
  if (!m.pointwise()) precondition(e, m, v.r, v.s_hat);
  e.product(v.s_hat, v.t);                              // t = A s^
  e.pass(StabilizerDots{v.t, v.r, v.r0}, Stabilize{});  // omega = t.s / t.t, rho', beta
  // x += alpha p^ + omega s^, r = s - omega t, p^ = M^-1 (r + beta (p - omega v))
  if (m.pointwise()) {
    e.pass(FullStep{v.x, v.r, v.p_hat, v.s_hat, v.t, v.v, v.r0, m.inverse_diagonal});
  } else {
    e.pass(GeneralFullStep{v.x, v.r, v.p, v.p_hat, v.s_hat, v.t, v.v, v.r0});
    precondition(e, m, v.p, v.p_hat);
  }
  e.product(v.p_hat, v.v);                    // v = A p^
  e.pass(Dot{v.r0, v.v}, BicgstabImprove{});  // ||r||, alpha = rho / r0.v
}

// With an inexact product, between two iterations: r = b - A x by the exact product, and what that
// changes changes p^ too (see cg.hpp; Sleijpen and van der Vorst, Computing 56, 1996).
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab_correct(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  e.exact_product(v.x, v.t);
  e.pass(CorrectRightResidual{v.b, v.t, v.r, v.r0, m.pointwise() ? nullptr : v.p, v.p_hat,
                              m.pointwise() ? m.inverse_diagonal : Diagonal{}});
  if (!m.pointwise()) precondition(e, m, v.p, v.p_hat);
  e.product(v.p_hat, v.v);                    // v = A p^
  e.pass(Dot{v.r0, v.v}, BicgstabCorrect{});  // alpha = rho / r0.v
}

// After a solve that was stopped: p is the next direction.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void leave_direction(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  if (m.pointwise()) e.pass(PlainDirection{v.p, v.p_hat, m.inverse_diagonal});
}

// In place of a start: r0 and p are what another solve has left.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab_go_on(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  e.exact_product(v.x, v.v);
  e.pass(GoOnResidual{v.b, v.v, v.r, v.r0, v.p, v.p_hat, m.inverse_diagonal});
  if (!m.pointwise()) precondition(e, m, v.p, v.p_hat);  // p^ = M^-1 p
  e.product(v.p_hat, v.v);                               // v = A p^
  e.pass(Dot{v.r0, v.v}, BicgstabGoOn{});                // rho = r0.r, alpha = rho / r0.v
  if (e.needs_true_residual()) bicgstab_start(e, v, m, false);
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab_loop(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  while (e.running()) {
    e.repeat([&] { bicgstab_iteration(e, v, m); });
    if (e.inexact() && e.needs_true_residual()) bicgstab_correct(e, v, m);
    if (e.needs_true_residual()) bicgstab_start(e, v, m, false);
  }
}

// The whole solve. Convergence by the recurrence is believed only when b - A x confirms it.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void bicgstab(Exec& e, const BicgstabVectors& v, const Preconditioner& m) {
  if (!v.zero_guess) {
    e.pass(ShadowResidual{v.b, nullptr, v.r, v.r0, nullptr, v.p_hat, Diagonal{}});
    e.finish(SetRightReference{});
  }
  bicgstab_start(e, v, m, v.zero_guess);
  bicgstab_loop(e, v, m);
}

}  // namespace trireme::solvers
