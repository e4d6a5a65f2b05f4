// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method, once for the host, CUDA graphs and the persistent CUDA kernel.
//
// Values moved an iteration beside the product (n: rows), with Jacobi:
//   classic  10n:  r -= alpha q           4n  (r q d, r)
//                  x += alpha p, p = ..   6n  (x p r d, x p)
//   single_reduction   11n:  all updates at once   11n  (x r p s w d, x r p s u)
// and 2n for p.q where the product cannot sum it by the way. A constant diagonal is not read: 8n
// and 10n. PETSc's KSPCG moves 17n. Classic has two points where sums must be complete,
// single_reduction one (Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989): fewer waits for
// fewer rows a processor.
//
// With an inexact product (a matrix stored in FP32) the residual of the recurrence is one of a
// neighbouring system. Whenever it has fallen to a 32nd of the last true one, b - A x by the exact
// product takes its place, and the search goes on in the same directions: a new start would cost
// CG its superlinear convergence. (Residual replacement: van der Vorst and Ye, SIAM J. Sci. Comput.
// 22, 2000; in mixed precision: Clark et al., Comput. Phys. Commun. 181, 2010.)
// The rounded matrix keeps the row sums of A: what rounding took from a row's sum is added to its
// diagonal, y += (A 1 - A32 1) x, which moves 3.5n values with the sum of p.q in it. Then A - A32
// acts on differences between neighbours only: for an M-matrix with row sums of 0 or more the two
// are spectrally equal to FP32's rounding, however ill-conditioned they are.
#pragma once

#include "solvers/methods/cg_passes.hpp"
#include "solvers/methods/correction_passes.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace trireme::solvers {

struct CgVectors {
  const double* b;
  double* x;
  double* r;
  double* z;  // M^-1 r where M is not pointwise; single_reduction: u
  double* p;
  double* q;  // A p; single_reduction: w = A u
  double* s;  // single_reduction only: A p
  bool zero_guess;
  NormTerm norm;
};

// r = b - A x, z = M^-1 r (in `z`), and their sums are pending.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void true_residual(Exec& e, const CgVectors& v, const Preconditioner& m, bool x_is_zero,
                              double* z) {
  if (!x_is_zero) e.exact_product(v.x, v.q);
  const TrueResidual residual{v.b, x_is_zero ? nullptr : v.q, v.r, z, m.inverse_diagonal, v.norm};
  if (m.pointwise()) return e.pass(residual);
  e.pass(residual);
  e.forget_sums();
  precondition(e, m, v.r, z);
  e.pass(ResidualNorms{v.r, z, v.norm});
}

// The norm of b that rtol is relative to.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void reference_norm(Exec& e, const CgVectors& v, const Preconditioner& m) {
  true_residual(e, v, m, true, v.p);
  e.finish(SetReference{});
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg_start(Exec& e, const CgVectors& v, const Preconditioner& m, bool x_is_zero) {
  true_residual(e, v, m, x_is_zero, v.p);  // r = b - A x, p = M^-1 r
  e.finish(CgBegin{});
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg_iteration(Exec& e, const CgVectors& v, const Preconditioner& m) {
  e.product_and_dot(v.p, v.q, CgStepLength{});  // q = A p, alpha = rho / p.q
  if (m.pointwise()) {
    // r -= alpha q, rho' = r.D^-1 r, beta = rho' / rho
    e.pass(CgResidual{v.r, v.q, m.inverse_diagonal, v.norm}, CgImprove{});
    // x += alpha p, p = D^-1 r + beta p
    e.pass(CgDirection{v.x, v.p, v.r, m.inverse_diagonal});
  } else {
    e.pass(CgResidual{v.r, v.q, Diagonal{}, v.norm});  // r -= alpha q
    e.forget_sums();
    precondition(e, m, v.r, v.z);                          // z = M^-1 r
    e.pass(ResidualNorms{v.r, v.z, v.norm}, CgImprove{});  // rho' = r.z, beta = rho' / rho
    e.pass(CgDirection{v.x, v.p, v.z, Diagonal{}});        // x += alpha p, p = z + beta p
  }
}

// Between two iterations: r = b - A x by the exact product, and what that changes changes z and p.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg_correct(Exec& e, const CgVectors& v, const Preconditioner& m) {
  e.exact_product(v.x, v.q);
  if (m.pointwise()) {
    e.pass(CorrectResidual{v.b, v.q, v.r, v.z, v.p, m.inverse_diagonal, v.norm});
  } else {
    e.pass(ChangeResidual{v.b, v.q, v.r});
    precondition(e, m, v.q, v.s);
    e.pass(ChangeDirection{v.s, v.r, v.z, v.p, v.norm});
  }
  e.finish(CgCorrect{});
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg_start(Exec& e, const CgVectors& v, const Preconditioner& m,
                                          bool x_is_zero) {
  true_residual(e, v, m, x_is_zero, v.z);               // r = b - A x, u = M^-1 r
  e.product_and_dot(v.z, v.q, SingleReductionBegin{});  // w = A u, alpha = r.u / u.w
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg_iteration(Exec& e, const CgVectors& v,
                                              const Preconditioner& m) {
  // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = D^-1 r
  e.pass(SingleReductionUpdate{v.x, v.r, v.p, v.s, v.z, v.q, m.inverse_diagonal, !m.pointwise(),
                               v.norm});
  if (!m.pointwise()) {
    e.forget_sums();
    precondition(e, m, v.r, v.z);  // u = M^-1 r
    e.pass(ResidualNorms{v.r, v.z, v.norm});
  }
  e.product_and_dot(v.z, v.q, SingleReductionImprove{});  // w = A u, alpha, beta
}

// p and s = A p are those of the last iteration and stay.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg_correct(Exec& e, const CgVectors& v, const Preconditioner& m) {
  e.exact_product(v.x, v.q);
  if (m.pointwise()) {
    e.pass(CorrectResidual{v.b, v.q, v.r, v.z, nullptr, m.inverse_diagonal, v.norm});
  } else {
    e.pass(ChangeResidual{v.b, v.q, v.r});
    precondition(e, m, v.r, v.z);
    e.pass(ResidualNorms{v.r, v.z, v.norm});
  }
  e.product_and_dot(v.z, v.q, SingleReductionCorrect{});  // w = A u
}

// After single_reduction_cg has been stopped: p is the next direction, as the classic loop leaves
// it.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void leave_direction(Exec& e, const CgVectors& v) {
  e.pass(NextDirection{v.p, v.z});
}

// Instead of a start: p is what another solve has left. One iteration by formulas that hold for any
// p makes r orthogonal to p, and the next direction conjugate to it: those of the loop follow from
// that, though rounding, or an inexact product, kept p and r = b - A x from being made for each
// other. `q` becomes A p; z = M^-1 r.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void first_iteration(Exec& e, const CgVectors& v, const Preconditioner& m, double* q) {
  true_residual(e, v, m, false, v.z);  // r = b - A x, z = M^-1 r
  e.finish(CgGoOn{});                  // rho = r.z
  e.pass(Dot{v.r, v.p});
  e.product_and_dot(v.p, q, GoOnStepLength{});     // q = A p, alpha = r.p / p.q
  e.pass(CgResidual{v.r, q, Diagonal{}, v.norm});  // r -= alpha q
  e.forget_sums();
  if (m.pointwise()) {
    e.pass(TrueResidual{v.r, nullptr, v.r, v.z, m.inverse_diagonal, v.norm});  // z = D^-1 r
  } else {
    precondition(e, m, v.r, v.z);
    e.pass(ResidualNorms{v.r, v.z, v.norm});
  }
  e.pass(Dot{v.z, q}, GoOnImprove{});  // rho' = r.z, beta = - z.q / p.q
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg_go_on(Exec& e, const CgVectors& v, const Preconditioner& m) {
  first_iteration(e, v, m, v.q);
  e.pass(CgDirection{v.x, v.p, v.z, Diagonal{}});  // x += alpha p, p = z + beta p
  if (e.inexact() && e.needs_true_residual()) cg_correct(e, v, m);
  if (e.needs_true_residual()) cg_start(e, v, m, false);
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg_go_on(Exec& e, const CgVectors& v, const Preconditioner& m) {
  first_iteration(e, v, m, v.s);
  e.pass(Advance{v.x, v.p});                           // x += alpha p
  e.product_and_dot(v.z, v.q, SingleReductionGoOn{});  // w = A u, alpha
  if (e.inexact() && e.needs_true_residual()) single_reduction_cg_correct(e, v, m);
  if (e.needs_true_residual()) single_reduction_cg_start(e, v, m, false);
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg_loop(Exec& e, const CgVectors& v, const Preconditioner& m) {
  while (e.running()) {
    e.repeat([&] { cg_iteration(e, v, m); });
    if (e.inexact() && e.needs_true_residual()) cg_correct(e, v, m);
    if (e.needs_true_residual()) cg_start(e, v, m, false);
  }
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg_loop(Exec& e, const CgVectors& v, const Preconditioner& m) {
  while (e.running()) {
    e.repeat([&] { single_reduction_cg_iteration(e, v, m); });
    if (e.inexact() && e.needs_true_residual()) single_reduction_cg_correct(e, v, m);
    if (e.needs_true_residual()) single_reduction_cg_start(e, v, m, false);
  }
}

// The whole solve. Convergence by the recurrence is believed only when b - A x confirms it.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void cg(Exec& e, const CgVectors& v, const Preconditioner& m) {
  if (!v.zero_guess) reference_norm(e, v, m);
  cg_start(e, v, m, v.zero_guess);
  cg_loop(e, v, m);
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void single_reduction_cg(Exec& e, const CgVectors& v, const Preconditioner& m) {
  if (!v.zero_guess) reference_norm(e, v, m);
  single_reduction_cg_start(e, v, m, v.zero_guess);
  single_reduction_cg_loop(e, v, m);
}

}  // namespace trireme::solvers
