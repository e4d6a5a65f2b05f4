// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a solve, kept where the loop runs, and the rule by which it stops.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define TRIREME_HD __host__ __device__ __forceinline__
#else
#define TRIREME_HD inline
#endif

namespace trireme::solvers {

// With an inexact product, r is corrected when its norm is this part of the last true one's.
inline constexpr double kCorrectBelow = 1.0 / 32;
// and after so many iterations without that the exact product goes on.
inline constexpr std::int64_t kMaxUncorrected = 5000;
// An iteration that tests nothing ends where the norm is this part of the reference.
inline constexpr double kNothingLeft = 1e-50;
inline constexpr std::int32_t kMaxStalls = 3;  // see verify()

// The numbers are PETSc's KSPConvergedReason; `interrupted` is its KSP_DIVERGED_USER.
enum class Reason : int {
  running = 0,
  rtol = 2,
  atol = 3,
  iterations_done = 4,
  too_many_iterations = -3,
  diverged = -4,
  breakdown = -5,  // of the recurrence, or stagnation: see verify()
  indefinite_preconditioner = -8,
  not_finite = -9,
  indefinite_matrix = -10,
  interrupted = -12,
};

enum class NormKind : int { none, preconditioned, unpreconditioned, natural };

// PETSc's default convergence rule. The norm of reference is that of b, or of the initial residual.
struct Tolerances {
  double rtol = 1e-8;
  double atol = 1e-50;
  double divtol = 1e4;
  std::int64_t max_iterations = 10000;
  std::int64_t min_iterations = 0;
  std::int64_t untested_iterations = -1;  // no test up to and including this one (PETSc: chknorm)
  bool relative_to_initial_residual = false;
  bool relative_to_smaller = false;  // of ||b|| and the initial residual
  bool limit_is_success = false;     // reaching max_iterations is CONVERGED_ITS
  bool judged_by_caller = false;     // a convergence test of the caller's own decides
  NormKind norm = NormKind::unpreconditioned;
};

// A plain struct that a GPU keeps in its memory and a thread may keep in registers.
struct State {
  Tolerances rule;
  double norm = 0;        // of the residual, by the recurrence
  double reference = -1;  // ||b||; negative: take the initial residual's
  double target = 0;      // max(rtol * reference, atol)
  double verified = 0;    // the least norm of b - A x that was computed as such
  std::int64_t iterations = 0;
  std::int64_t restarted_at = 0;
  std::int32_t replacements = 0;  // how often r was replaced by b - A x
  std::int32_t stalls = 0;        // how often that came to little; kMaxStalls is stagnation
  double correct_below = 0;       // an inexact product: r is corrected when the norm is this part
  double correct_at = 0;          // of the last true one, that is, at this norm
  bool correct = false;           // that is due
  bool restart = false;           // after a breakdown
  Reason reason = Reason::running;
  bool started = false;
  bool running = true;  // the loop goes on
  bool live = true;     // the rest of this iteration counts; otherwise its passes do nothing

  double alpha = 0, beta = 0, rho = 0, omega = 0;
  double last_alpha = 0;      // single_reduction CG: the one before
  double curvature = 0;       // the first p.Ap: its sign must never change
  double last_curvature = 0;  // single_reduction: p.Ap of the last direction
  double inverse_rho = 0;     // single_reduction
};

TRIREME_HD void stop(State& s, Reason reason) {
  s.reason = reason;
  s.running = false;
}

// Breakdown in the middle of an iteration: what is left of it must not touch x.
TRIREME_HD void abandon(State& s, Reason reason) {
  stop(s, reason);
  s.live = false;
}

// The verdict of the caller's own test, which goes before the iteration limit. True: it is the end.
TRIREME_HD bool overrule(State& s, Reason verdict) {
  if (verdict == Reason::running) return false;
  if (!s.running && s.reason != Reason::too_many_iterations) return false;
  stop(s, verdict);
  return true;
}

TRIREME_HD bool is_finite(double value) { return value - value == 0; }

TRIREME_HD Reason tolerance_met(const State& s) {
  return s.norm < s.rule.atol ? Reason::atol : Reason::rtol;
}

// KSPConvergedDefault, and the iteration limit of PETSc's CG.
TRIREME_HD void judge(State& s, double norm) {
  s.norm = norm;
  const Tolerances& rule = s.rule;
  const bool at_limit = s.iterations >= rule.max_iterations;
  if (rule.judged_by_caller) {
    if (at_limit) stop(s, Reason::too_many_iterations);
    return;
  }
  if (rule.limit_is_success && at_limit) return stop(s, Reason::iterations_done);
  if (rule.norm != NormKind::none && s.iterations > rule.untested_iterations) {
    if (!is_finite(norm)) return stop(s, Reason::not_finite);
    if (s.iterations >= rule.min_iterations) {
      if (norm <= s.target) return stop(s, tolerance_met(s));
      if (norm >= rule.divtol * s.reference) return stop(s, Reason::diverged);
    }
  } else if (rule.norm != NormKind::none &&
             (norm <= rule.atol || norm <= kNothingLeft * s.reference)) {
    // Untested, but nothing is left to be done: the scalars that follow would be divided by zero.
    return stop(s, rule.limit_is_success ? Reason::iterations_done : Reason::atol);
  }
  if (at_limit) return stop(s, Reason::too_many_iterations);
  if (s.correct_at > 0 && norm <= s.correct_at) {
    s.correct = true;
    s.running = false;  // the rest of this iteration still counts
  } else if (s.correct_at > 0 && s.iterations >= s.restarted_at + kMaxUncorrected) {
    stop(s, Reason::breakdown);
  }
}

// BiCGSTAB cannot go on: it begins anew from b - A x if it has come anywhere since the last time.
TRIREME_HD void break_down(State& s) {
  s.restart = s.iterations >= s.restarted_at + 5;
  abandon(s, Reason::breakdown);
}

// The recurrence says that the tolerance is met, or has broken down, and `norm` is that of b - A x
// as computed. If b - A x does not meet the tolerance, the iteration begins anew from the true
// residual. A third true residual that is more than half of the best before it is stagnation: x is
// as good as the arithmetic allows.
TRIREME_HD void verify(State& s, double norm) {
  const bool broken_down = s.restart;
  s.restart = s.correct = false;
  s.norm = norm;
  if (!is_finite(norm)) return stop(s, Reason::not_finite);
  if (norm <= s.target) return stop(s, tolerance_met(s));
  if (!broken_down && norm > 0.5 * s.verified && ++s.stalls == kMaxStalls)
    return stop(s, Reason::breakdown);
  if (s.iterations >= s.rule.max_iterations) return stop(s, Reason::too_many_iterations);
  if (norm < s.verified) s.verified = norm;
  s.correct_at = s.correct_below * norm;
  s.restarted_at = s.iterations;
  s.reason = Reason::running;
  s.running = s.live = true;
  ++s.replacements;
}

// `norm` is that of the first b - A x.
TRIREME_HD void set_targets(State& s, double norm) {
  const double relative = s.rule.rtol * s.reference;
  s.target = relative > s.rule.atol ? relative : s.rule.atol;
  s.correct_at = s.correct_below * norm;
}

// At the start, and again when the recurrence claims convergence: `norm` is that of b - A x.
TRIREME_HD void begin(State& s, double norm) {
  if (s.started) return verify(s, norm);
  s.started = true;
  s.verified = norm;
  if (s.rule.relative_to_initial_residual || !(s.reference > 0))
    s.reference = norm;  // the latter is PETSc's special case b = 0, x0 != 0
  if (s.rule.relative_to_smaller && norm < s.reference) s.reference = norm;
  set_targets(s, norm);
  judge(s, norm);
}

// As begin(), of a solve that goes on after it was stopped: iterations and reference are given.
TRIREME_HD void go_on(State& s, double norm) {
  s.started = true;
  s.verified = norm;
  s.restarted_at = s.iterations;
  set_targets(s, norm);
  judge(s, norm);
}

// Whether a solve ended at a point from which another can go on.
TRIREME_HD bool can_go_on(const State& s) {
  return s.reason == Reason::interrupted || s.reason == Reason::too_many_iterations;
}

// Whether a claim of convergence is to be checked against b - A x, or a breakdown got over.
TRIREME_HD bool needs_true_residual(const State& s) {
  const bool claimed = s.reason == Reason::rtol || s.reason == Reason::atol;
  return (claimed || s.restart || s.correct) && s.iterations > 0 && !s.rule.judged_by_caller;
}

TRIREME_HD bool stagnated(const State& s) {
  return s.reason == Reason::breakdown && s.stalls == kMaxStalls;
}

// An inexact product: r has been replaced by b - A x without a new start, and `change` is the norm
// of what that changed. A large change has little to do with the directions so far: a new start.
TRIREME_HD void resume(State& s, double norm, double change) {
  verify(s, norm);
  if (!s.running || 2 * change <= norm) return;
  s.running = s.live = false;
  s.restart = true;
  --s.replacements;  // the start counts it
}

// Whether a solve with an inexact product ended because of it, perhaps: then the exact one goes on.
TRIREME_HD bool gave_up(const State& s) {
  return s.reason == Reason::breakdown || s.reason == Reason::indefinite_matrix ||
         s.reason == Reason::diverged;
}

// The scalars for going on with the exact product. True: x has gone astray and must be made zero.
TRIREME_HD bool go_on_exactly(State& s) {
  const bool astray = !(s.norm <= s.reference);
  s.reason = Reason::running;
  s.running = s.live = true;
  s.correct_below = s.correct_at = s.curvature = 0;
  s.stalls = 0;
  s.restart = true;  // not to be counted as a stall
  return astray;
}

}  // namespace trireme::solvers
