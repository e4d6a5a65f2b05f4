// SPDX-License-Identifier: BSD-3-Clause
// The scalars and small arrays of a cycle of GMRES, and the steps that change them.
//
// A^ is A M^-1. Column j of the Hessenberg matrix H has the products of A^ v_j with the basis, and
// below them the norm of what the basis leaves of A^ v_j. Rotations make H the upper triangle R and
// ||r|| e_1 the vector g, whose element below the triangle is the norm of the residual.
#pragma once

#include <cmath>

#include "solvers/methods/common_passes.hpp"

namespace trireme::solvers {

// A second orthogonalisation follows where the first one leaves less than this part of the square
// of a vector's norm: its rounding errors would weigh too much otherwise.
inline constexpr double kCancelled = 0.5;
// What is left below this part of a square is rounding.
inline constexpr double kOnlyRounding = 1e-30;
// A column of R that is shorter than this part of A^ v_j is no more than rounding made it: A^ is
// singular or nearly so, and the column's part of x would be large and wrong.
inline constexpr double kUseless = 1e-12;
// Columns of R that let rounding add no more than this part of what remains need no second look.
inline constexpr double kHarmless = 1e-6;
// A cycle that leaves more than this part of a residual would be repeated without end.
inline constexpr double kStandsStill = 1 - 1e-6;
// In mixed precision, a true residual above this multiple of the recurrence's is what rounding made
// of it, and a cycle that it leaves with more than this part of the residual is wasted.
inline constexpr double kRounded = 2, kWasted = 0.5;
// So are cycles, as many in a row, that each leave more than this part: the space of the rounded
// matrix may have nothing for the residual.
inline constexpr double kSlow = 0.8, kSlowCycles = 3;

// State::scalar. Numbers of vectors are stored as values of double, as the executors pass them on.
TRIREME_HD double& finished_columns(State& s) { return s.scalar[0]; }  // of R
TRIREME_HD int finished_columns(const State& s) { return static_cast<int>(s.scalar[0]); }
TRIREME_HD double& vectors_in_use(State& s) { return s.scalar[1]; }  // of the basis
TRIREME_HD int vectors_in_use(const State& s) { return static_cast<int>(s.scalar[1]); }
TRIREME_HD double& second_time(State& s) { return s.scalar[2]; }  // other than 0: it is due
TRIREME_HD bool second_time(const State& s) { return s.scalar[2] != 0; }
TRIREME_HD double& next_norm(State& s) { return s.scalar[3]; }  // of the next basis vector
TRIREME_HD double next_norm(const State& s) { return s.scalar[3]; }
TRIREME_HD double& first_norm(State& s) { return s.scalar[4]; }    // of the residual, in a cycle
TRIREME_HD double& image_square(State& s) { return s.scalar[5]; }  // of A^ v_j
TRIREME_HD double& slow_cycles(State& s) { return s.scalar[6]; }   // the last ones in a row
inline constexpr int kGmresScalars = 7;

// The small arrays of one right-hand side.
struct CycleArrays {
  double* dots;     // of the last vector with the basis
  double* cosines;  // of the rotations
  double* sines;
  double* g;
  double* y;  // the solution of R y = g
  double* r;  // the columns of R one after another

  static constexpr std::int64_t elements(std::int64_t length) {
    return 5 * length + 1 + length * (length + 1) / 2;
  }
  TRIREME_HD static CycleArrays of(const CycleWork& work, const State& s) {
    const std::int64_t length = work.length;
    double* const first = work.arrays + s.column * elements(length);
    return {first,
            first + length,
            first + 2 * length,
            first + 3 * length,
            first + 4 * length + 1,
            first + 5 * length + 1};
  }
  TRIREME_HD double* column(int j) const { return r + static_cast<std::int64_t>(j) * (j + 1) / 2; }
};

// The cycle has ended before the solve: it makes a new start due, unless it led nowhere.
TRIREME_HD void end_cycle(State& s, double norm) {
  abandon(s, Reason::breakdown);
  if (s.rule.limit_is_success || norm <= kStandsStill * first_norm(s)) s.due = Due::new_start;
}

// Column j of R is complete but for the rotations; `rest` is the norm below it.
TRIREME_HD void rotate(State& s, const CycleWork& work, const CycleArrays& a, double rest) {
  const int j = static_cast<int>(finished_columns(s));
  double* const column = a.column(j);
  double low = column[0];
  for (int i = 0; i < j; ++i) {
    const double next = column[i + 1];
    column[i] = a.cosines[i] * low + a.sines[i] * next;
    low = a.cosines[i] * next - a.sines[i] * low;
  }
  const double size = hypot(low, rest);
  const bool useless = size <= kUseless * sqrt(image_square(s));
  if (!useless) {
    a.cosines[j] = low / size;
    a.sines[j] = rest / size;
    column[j] = size;
    a.g[j + 1] = -a.sines[j] * a.g[j];
    a.g[j] *= a.cosines[j];
    finished_columns(s) = j + 1;
  }
  ++s.iterations;
  const double norm = fabs(a.g[useless ? j : j + 1]);
  judge(s, s.rule.norm == NormKind::none ? 0 : norm);
  if (running(s) && (useless || rest == 0 || j + 1 == work.length)) end_cycle(s, norm);
  next_norm(s) = rest;
  close_iteration(s);
}

// Keeps `count` sums of vectors with the basis, from that of vector `first` on.
template <bool second>
struct KeepDots {
  static constexpr bool ends_iteration = false;
  CycleWork work;
  int first, count;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s) || (second && second_time(s) == 0)) return;
    double* const dots = CycleArrays::of(work, s).dots;
    for (int k = 0; k < count && first + k < work.length; ++k) dots[first + k] = sum[k];
  }
};

// Likewise, where the sum of the square of A^ v_j comes after them: the next column of H, and by
// the theorem of Pythagoras the norm of what remains of A^ v_j.
template <bool second>
struct Orthogonalise {
  static constexpr bool ends_iteration = true;
  CycleWork work;
  int first, count;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (!live(s) || (second && second_time(s) == 0)) return;
    KeepDots<second>{work, first, count}(s, sum);
    const CycleArrays a = CycleArrays::of(work, s);
    const int j = static_cast<int>(finished_columns(s));
    double* const column = a.column(j);
    const double square = sum[count];
    double along = 0;
    for (int k = 0; k <= j; ++k) {
      along += a.dots[k] * a.dots[k];
      column[k] = second ? column[k] + a.dots[k] : a.dots[k];
    }
    if (!is_finite(square) || !is_finite(along)) return abandon(s, Reason::not_finite);
    if (!second) image_square(s) = square;
    vectors_in_use(s) = j + 1;
    double rest = square - along;
    const bool cancelled = rest < kCancelled * square;
    if (!second) {
      second_time(s) = cancelled ? 1 : 0;
      if (cancelled) return;
    }
    // What cancels twice was in the span of the basis.
    if (cancelled || rest <= kOnlyRounding * image_square(s)) rest = 0;
    rotate(s, work, a, sqrt(rest));
  }
};

// From {norm term of b}
struct SetCycleReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = s.rule.norm == NormKind::none ? 0 : sqrt(sum[0]);
  }
};

// Whether rounding has taken nearly all that a cycle gained. `norm` is that of b - A x.
TRIREME_HD bool is_wasted_by_rounding(State& s, double norm) {
  if (s.correct_below == 0 || norm <= s.target) return false;
  slow_cycles(s) = norm > kSlow * s.verified ? slow_cycles(s) + 1 : 0;
  return slow_cycles(s) >= kSlowCycles || (norm > kRounded * s.norm && norm > kWasted * s.verified);
}

// From {norm term of b - A x}: begins the solve, goes on with it, or begins another cycle.
template <Entry entry>
struct GmresEnter {
  static constexpr bool ends_iteration = true;
  CycleWork work;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const Tolerances& rule = s.rule;
    const double size = sqrt(sum[0]);
    const double norm = rule.norm == NormKind::none ? 0 : size;
    const bool tested = rule.norm != NormKind::none && !rule.judged_by_caller &&
                        s.iterations > rule.untested_iterations &&
                        s.iterations >= rule.min_iterations;
    if (entry == Entry::go_on || !started(s)) {
      enter<entry>(s, norm);
    } else if (is_wasted_by_rounding(s, norm)) {
      s.norm = norm;
      abandon(s, Reason::breakdown);
    } else if (tested || !is_finite(size)) {
      // A cycle is no stall as long as it makes the residual smaller, however little.
      if (s.due == Due::new_start && norm >= s.verified) s.due = Due::correction;
      verify(s, norm);
    } else {
      s.due = Due::nothing;
      s.norm = norm;
      s.reason = Reason::running;
      s.phase = Phase::iterating;
      s.restarted_at = s.iterations;
      ++s.replacements;
    }
    s.correct_at = 0;  // b - A x takes the place of the residual when a cycle is complete
    if (running(s) && size == 0) stop(s, Reason::atol);
    finished_columns(s) = vectors_in_use(s) = 0;
    next_norm(s) = first_norm(s) = size;
    CycleArrays::of(work, s).g[0] = size;
    close_iteration(s);
  }
};

// Solves R y = g with the first `count` columns, and returns how large a residual the rounding of
// this y and of the columns of H may make: much larger than g where R is nearly singular.
TRIREME_HD double solve_triangle(const CycleArrays& a, int count) {
  constexpr double kRounding = 0x1p-52;
  for (int i = 0; i < count; ++i) a.y[i] = a.g[i];
  double sizes = 0;
  for (int j = count - 1; j >= 0; --j) {
    const double* const column = a.column(j);
    a.y[j] /= column[j];
    double size = fabs(column[j]);
    for (int i = 0; i < j; ++i) {
      a.y[i] -= column[i] * a.y[j];
      size += fabs(column[i]);
    }
    sizes += fabs(a.y[j]) * size;
  }
  return kRounding * sizes;
}

// Solves R y = g, and forgets the columns. Of a nearly singular R, as few of the last columns are
// left out as make the sum of the residual and of its rounding smallest. One column adds nearly
// nothing to it, so that no cycle makes a residual larger.
struct BackSubstitute {
  static constexpr bool ends_iteration = false;
  CycleWork work;
  TRIREME_HD void operator()(State& s, const double*) const {
    const CycleArrays a = CycleArrays::of(work, s);
    int count = static_cast<int>(finished_columns(s));
    double remains = fabs(a.g[count]);
    const double rounding = solve_triangle(a, count);
    if (!(rounding <= kHarmless * remains)) {
      double best = remains + rounding;
      for (int fewer = count - 1; fewer > 0; --fewer) {
        remains = hypot(remains, a.g[fewer]);
        if (remains >= best) break;
        const double sum = remains + solve_triangle(a, fewer);
        if (is_finite(best) && !(sum < best)) continue;
        best = sum;
        count = fewer;
      }
      solve_triangle(a, count);
    }
    vectors_in_use(s) = count;
    finished_columns(s) = 0;
  }
};

}  // namespace trireme::solvers
