// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a solve, which live where the loop runs, and the rule that ends the loop.
//
//                        begin() or go_on()
//   starting ---------------------------------------------+
//                                                         v
//     +-------------------------------------------->  iterating  <--+
//     |                                                   |         | the next iteration
//     |                                    stop(): the    |---------+
//     |                                    loop is to end |
//     | verify(): b - A x does not meet                   v
//     | the tolerance, so the loop goes on            finishing   what is left of this iteration
//     |                                                   |       still counts: CG's x += alpha p
//     |                          end of the iteration, or |
//     |                          abandon() at any time    v
//     +----------------------------------------------  waiting    passes do nothing
//                                                         |
//                             Due::nothing: the solve is  v
//                             over, and reason() says why.
//
// While a state is finishing or waiting, `due` names what the driver of the loop has to do before
// the solve may end: Due::confirmation of a claim, a correction of the residual, or a new start.
#pragma once

#include <cmath>
#include <cstdint>

#include "solvers/tolerances.hpp"

#ifdef __CUDACC__
#define TRIREME_HD __host__ __device__ __forceinline__
// Stands before a template that runs an executor: the executor decides between host and device.
#define TRIREME_RUNS_EXECUTOR _Pragma("nv_exec_check_disable")
#else
#define TRIREME_HD inline
#define TRIREME_RUNS_EXECUTOR
#endif

namespace trireme::solvers {

// With an inexact product, the residual is corrected when its norm has fallen to this fraction of
// the last true norm.
inline constexpr double kCorrectBelow = 1.0 / 32;
// Within this many iterations a correction may come later than that: see correct_later().
inline constexpr std::int64_t kCorrectBy = 32;
// After this many iterations without a correction, the exact product takes over.
inline constexpr std::int64_t kMaxUncorrected = 5000;
// The same where the vectors of the loop are in FP32, whose rounding may keep it from getting on.
inline constexpr std::int64_t kMaxUncorrectedInFp32 = 2000;
// An iteration that is not tested ends the loop if the norm is at most this fraction of the
// reference norm.
inline constexpr double kNothingLeft = 1e-50;
// This many true residuals without progress are stagnation: see verify().
inline constexpr std::int32_t kMaxStalls = 3;
// Scalars that a method has beside alpha, beta and rho.
inline constexpr int kMaxScalars = 10;

// The numbers are those of PETSc's KSPConvergedReason; `interrupted` is its KSP_DIVERGED_USER.
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
  worse_guess = -100,  // never the reason of a solve: the driver begins again with x = 0
};

enum class Phase : std::int32_t { starting, iterating, finishing, waiting };
enum class Due : std::int32_t { nothing, confirmation, correction, new_start };

// The scalars that the steps of every method may change.
struct Progress {
  double norm = 0;        // of the residual, by the recurrence
  double reference = -1;  // ||b||; negative: the norm of the initial residual becomes it
  double target = 0;      // max(rtol * reference, atol)
  double bound = 0;       // a norm as large as this one is divergence
  double verified = 0;    // the smallest norm of b - A x that was computed as such
  std::int64_t iterations = 0;
  std::int64_t restarted_at = 0;
  std::int32_t replacements = 0;  // how often b - A x took the place of the recurrence's residual
  std::int32_t stalls = 0;        // how often a true residual showed little progress
  // With an inexact product (otherwise 0): the next correction is due when the norm has fallen to
  // correct_at, which is correct_below times the last true norm or less: see correct_later().
  double correct_below = 0;
  double correct_at = 0;
  std::int64_t max_uncorrected = kMaxUncorrected;
  Reason reason = Reason::running;
  Phase phase = Phase::starting;
  Due due = Due::nothing;

  double alpha = 0, beta = 0, rho = 0;

  // A loop with FP32 vectors holds its residuals and directions in this unit, a power of two near
  // the norm of the last true residual; of the last unit it is 1 / rescale.
  double unit = 1, rescale = 1;

  // The square of the norm is plain_part r.r + other_part t.t; see NormTerm.
  double plain_part = 1, other_part = 0;

  // Other than 0 within an iteration whose residual meets the tolerance, with the square of its
  // norm: the iteration needs no preconditioned residual, so that an executor may leave it out.
  std::int32_t needs_no_z = 0;
  std::int32_t column = 0;  // of the arrays of CycleWork
  double square_without_z = 0;
};

// All scalars of a solve: a plain struct that a GPU keeps in its memory, and of which a thread may
// keep a copy in registers.
struct State : Progress {
  double scalar[kMaxScalars] = {};  // each method gives its own scalars names
  Tolerances rule;
};

// Whether the loop goes on.
TRIREME_HD bool running(const State& s) { return s.phase <= Phase::iterating; }
// Whether the rest of this iteration counts. Otherwise its passes do nothing.
TRIREME_HD bool live(const State& s) { return s.phase <= Phase::finishing; }
// Whether the first true residual of the solve is known.
TRIREME_HD bool started(const State& s) { return s.phase != Phase::starting; }

// Sets `due`, with two exceptions. A convergence test of the caller has the last word, so that its
// verdict needs no confirmation; and before the first iteration the residual is the true one.
TRIREME_HD void make_due(State& s, Due due) {
  if (s.iterations > 0 && !s.rule.judged_by_caller) s.due = due;
}

// The loop ends with this iteration, the rest of which still counts.
TRIREME_HD void stop(State& s, Reason reason) {
  s.reason = reason;
  if (running(s)) s.phase = Phase::finishing;
  s.due = Due::nothing;
  if (reason == Reason::rtol || reason == Reason::atol) make_due(s, Due::confirmation);
}

// The last pass of an iteration is done.
TRIREME_HD void close_iteration(State& s) {
  if (!running(s)) s.phase = Phase::waiting;
}

// Breakdown in the middle of an iteration: what is left of the iteration must not touch x.
TRIREME_HD void abandon(State& s, Reason reason) {
  stop(s, reason);
  s.phase = Phase::waiting;
}

// Ends the iteration as abandon() does, and makes a new start from b - A x due.
TRIREME_HD void abandon_for_new_start(State& s) {
  abandon(s, Reason::breakdown);
  make_due(s, Due::new_start);
}

// Applies the verdict of the caller's convergence test, which outranks the iteration limit. Returns
// whether the verdict ends the loop.
TRIREME_HD bool overrule(State& s, Reason verdict) {
  if (verdict == Reason::running) return false;
  if (!running(s) && s.reason != Reason::too_many_iterations) return false;
  stop(s, verdict);
  return true;
}

TRIREME_HD bool is_finite(double value) { return value - value == 0; }

// Which tolerance a norm that meets the target has met.
TRIREME_HD Reason tolerance_met(const State& s) {
  return s.norm < s.rule.atol ? Reason::atol : Reason::rtol;
}

// Whether b - A x is to take the place of the recurrence's residual.
TRIREME_HD bool correction_is_due(const State& s) {
  if (s.correct_at == 0) return false;
  return s.norm <= s.correct_at ||
         (s.norm <= s.correct_below * s.verified && s.iterations >= s.restarted_at + kCorrectBy);
}

// Tests the norm after an iteration, by the rule of PETSc's KSPConvergedDefault and the iteration
// limit of PETSc's CG.
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
      if (norm >= s.bound) return stop(s, Reason::diverged);
    }
  } else if (rule.norm != NormKind::none &&
             (norm <= rule.atol || norm <= kNothingLeft * s.reference)) {
    // No test is due, but nothing is left to do: the next scalars would be divided by zero.
    return stop(s, rule.limit_is_success ? Reason::iterations_done : Reason::atol);
  }
  if (at_limit) return stop(s, Reason::too_many_iterations);
  if (correction_is_due(s)) {
    s.phase = Phase::finishing;
    make_due(s, Due::correction);
  } else if (s.correct_at > 0 && s.iterations >= s.restarted_at + s.max_uncorrected) {
    stop(s, Reason::breakdown);
  }
}

// Notes whether the end of this iteration, whose residual has the sum of squares `squared`, will
// end the loop because that residual meets the tolerance.
TRIREME_HD void note_whether_last(State& s, double squared) {
  const Tolerances& rule = s.rule;
  const std::int64_t iteration = s.iterations + 1;
  // After an inexact product, a correction goes on from the preconditioned residual.
  const bool tested = rule.norm == NormKind::unpreconditioned && !rule.judged_by_caller &&
                      s.correct_below == 0 && iteration > rule.untested_iterations &&
                      iteration >= rule.min_iterations &&
                      !(rule.limit_is_success && iteration >= rule.max_iterations);
  s.needs_no_z = tested && sqrt(squared) <= s.target ? 1 : 0;
  s.square_without_z = squared;
}

// The recurrence of BiCGSTAB cannot go on. The solve starts anew from b - A x, provided that it has
// done some iterations since its last start.
TRIREME_HD void break_down(State& s) {
  const bool has_come_anywhere = s.iterations >= s.restarted_at + 5;
  abandon(s, Reason::breakdown);
  if (has_come_anywhere) make_due(s, Due::new_start);
}

// Decides how a solve continues after a claim or a breakdown of the recurrence. `norm` is the norm
// of b - A x as computed. If b - A x does not meet the tolerance, the iteration begins anew from
// the true residual. The third true residual whose norm is more than half of the smallest norm
// before it is stagnation: x is as good as the arithmetic allows.
TRIREME_HD void verify(State& s, double norm) {
  const bool broken_down = s.due == Due::new_start;
  s.due = Due::nothing;
  s.norm = norm;
  const auto end = [&s](Reason reason) {
    s.reason = reason;
    s.phase = Phase::waiting;
  };
  if (!is_finite(norm)) return end(Reason::not_finite);
  if (norm <= s.target) return end(tolerance_met(s));
  if (!broken_down && norm > 0.5 * s.verified && ++s.stalls == kMaxStalls)
    return end(Reason::breakdown);
  if (s.iterations >= s.rule.max_iterations) return end(Reason::too_many_iterations);
  if (norm < s.verified) s.verified = norm;
  s.correct_at = s.correct_below * norm;
  s.restarted_at = s.iterations;
  s.reason = Reason::running;
  s.phase = Phase::iterating;
  ++s.replacements;
}

// Which norm the recurrences of a solve by s.rule test, before weigh_rows() makes it heed row
// sizes.
TRIREME_HD void choose_norm_parts(State& s) {
  const bool preconditioned = s.rule.norm == NormKind::preconditioned;
  s.plain_part = preconditioned ? 0 : 1;
  s.other_part = preconditioned ? 1 : 0;
}

// Sets the norms that end the loop or make a correction due. `norm` is the norm of the first
// b - A x, from which growth is measured where it is larger than the reference norm: a bad guess is
// no divergence. In a norm with row scales the small rows may grow by far more before they fall.
TRIREME_HD void set_targets(State& s, double norm) {
  constexpr double kGrowthOfRows = 1e12;
  s.bound = s.rule.divtol * (norm > s.reference ? norm : s.reference);
  if (s.rule.rows != RowTest::none && s.other_part > 0) s.bound *= kGrowthOfRows;
  constexpr double kRootOfHalf = 0.70710678118654752;
  const double relative = s.rule.rtol * s.reference;
  s.target = relative > s.rule.atol ? relative : s.rule.atol;
  // The norm is the root mean square of two norms, neither of which may exceed the target.
  if (s.plain_part > 0 && s.other_part > 0) s.target *= kRootOfHalf;
  s.correct_at = s.correct_below * norm;
}

// Begins the loop at the start of a solve, and again after a claim or a breakdown. `norm` is the
// norm of b - A x.
TRIREME_HD void begin(State& s, double norm) {
  if (started(s)) return verify(s, norm);
  if (s.rule.drops_worse_guess && s.iterations == 0 && s.reference > 0 && norm > s.reference &&
      !s.rule.relative_to_initial_residual && !s.rule.judged_by_caller) {
    s.norm = norm;
    return abandon(s, Reason::worse_guess);
  }
  s.phase = Phase::iterating;
  s.verified = norm;
  // PETSc's special case b = 0, x0 != 0 takes the initial residual's norm as well.
  if (s.rule.relative_to_initial_residual || !(s.reference > 0)) s.reference = norm;
  if (s.rule.relative_to_smaller && norm < s.reference) s.reference = norm;
  set_targets(s, norm);
  judge(s, norm);
}

// Begins the loop of a solve that goes on after it was stopped. Its number of iterations and its
// reference norm are already set; `norm` is the norm of b - A x.
TRIREME_HD void go_on(State& s, double norm) {
  s.phase = Phase::iterating;
  s.verified = norm;
  s.restarted_at = s.iterations;
  set_targets(s, norm);
  judge(s, norm);
}

// Whether a solve ended at a point from which another solve can go on.
TRIREME_HD bool can_go_on(const State& s) {
  return s.reason == Reason::interrupted || s.reason == Reason::too_many_iterations;
}

// Whether b - A x is to be computed before the solve may end.
TRIREME_HD bool needs_true_residual(const State& s) { return s.due != Due::nothing; }

// Whether the solve ended because true residuals no longer became smaller.
TRIREME_HD bool stagnated(const State& s) {
  return s.reason == Reason::breakdown && s.stalls == kMaxStalls;
}

// Chooses the next correction by the last one, which found the norm of b - A x to be `norm` and the
// residual to be off by `change` since that norm was `before`. Should rounding add up to 16 times
// as much, the residual is off by a 64th of its norm when the next correction is due.
TRIREME_HD void correct_later(State& s, double norm, double before, double change) {
  constexpr double kSafety = 16 * 64, kLeast = 0x1p-20;
  const double fraction = kSafety * change / before;
  if (s.correct_at == 0 || !(fraction < s.correct_below)) return;
  s.correct_at = norm * (fraction > kLeast ? fraction : kLeast);
}

// Continues after a correction of an inexact product. `norm` is the norm of b - A x, which has
// replaced r, and `change` is the norm of the difference. After a large change the directions so
// far do not fit the new residual, so that a new start becomes due.
TRIREME_HD void resume(State& s, double norm, double change) {
  const double before = s.verified;
  verify(s, norm);
  if (running(s)) correct_later(s, norm, before, change);
  if (!running(s) || 2 * change <= norm) return;
  s.phase = Phase::waiting;
  make_due(s, Due::new_start);
  --s.replacements;  // the new start counts this replacement again
}

// Whether a solve has ended with its first residual in a way that leads to another beginning: from
// x = 0, or with the exact product, where norms of an inexact preconditioner are not finite.
TRIREME_HD bool begins_again(const State& s) {
  return s.reason == Reason::worse_guess ||
         (s.reason == Reason::not_finite && s.iterations == 0 && !is_finite(s.norm) &&
          s.correct_below == kCorrectBelow);
}

// Whether an inexact product may be the cause of the end of a solve. Then the solve continues with
// the exact product.
TRIREME_HD bool gave_up(const State& s) {
  return s.reason == Reason::breakdown || s.reason == Reason::indefinite_matrix ||
         s.reason == Reason::indefinite_preconditioner || s.reason == Reason::not_finite ||
         s.reason == Reason::diverged;
}

// Prepares the state for a solve that continues with the exact product: resets the scalars that
// belong to the inexact product. Returns whether the residual is larger than the reference norm, or
// not finite, so that the solve must continue from x = 0.
TRIREME_HD bool go_on_exactly(State& s) {
  const bool astray = !(s.norm <= s.reference) || s.reason == Reason::not_finite;
  const bool has_begun = !begins_again(s);
  s.reason = Reason::running;
  s.phase = Phase::iterating;
  s.correct_below = s.correct_at = 0;
  s.unit = s.rescale = 1;
  for (double& scalar : s.scalar) scalar = 0;
  s.stalls = 0;
  s.due = Due::new_start;  // so that verify() does not count a stall
  if (!has_begun) {
    s.phase = Phase::starting;
    s.due = Due::nothing;
    s.reference = -1;
  }
  return astray;
}

// Applies a scalar step and says whether an iteration has ended with it. `stop_asked`: a process
// wishes to stop at the end of this iteration. A step with a tail leaves passes of the iteration to
// be done.
template <class Step>
TRIREME_HD bool apply(State& s, const Step& step, const double* sums, bool stop_asked) {
  const std::int64_t before = s.iterations;
  const bool first = !started(s);
  step(s, sums);
  if (!Step::ends_iteration || (!first && s.iterations == before)) return false;
  if (begins_again(s)) return false;  // nobody hears of this beginning
  if (stop_asked && running(s)) {
    stop(s, Reason::interrupted);
    if constexpr (!requires { requires Step::has_tail; }) close_iteration(s);
  }
  return true;
}

}  // namespace trireme::solvers
