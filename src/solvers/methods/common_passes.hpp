// SPDX-License-Identifier: BSD-3-Clause
// Element-wise passes and checks that several methods use.
#pragma once

#include "solvers/methods/method.hpp"
#include "solvers/preconditioners/diagonal.hpp"

namespace trireme::solvers {

// What a true residual is the start of: a solve, or the rest of a solve that was stopped.
enum class Entry { begin, go_on };
template <Entry entry>
TRIREME_HD void enter(State& s, double norm) {
  if constexpr (entry == Entry::begin)
    begin(s, norm);
  else
    go_on(s, norm);
}

// The norm that the rule tests, from the sums r.z and `squared`, the sum of the norm terms.
TRIREME_HD double chosen_norm(const State& s, double rz, double squared) {
  if (s.rule.norm == NormKind::none) return 0;
  return s.unit * sqrt(s.rule.norm == NormKind::natural ? fabs(rz) : squared);
}

// Whether work vectors of type T are rounded to FP32. Such a loop computes in FP64, in registers.
template <class T>
inline constexpr bool kIsFloat = sizeof(T) == sizeof(float);

// Sets State::unit for a residual of this norm.
TRIREME_HD void set_unit(State& s, double norm) {
  const double last = s.unit;
  s.unit = norm > 0 && is_finite(norm) ? exp2(floor(log2(norm))) : 1;
  s.rescale = last / s.unit;
}

// From the square of the norm of a true residual that a loop with FP32 vectors begins from.
struct SetUnit {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const { set_unit(s, sqrt(sum[0])); }
};

// Before a correction: from the norm of the recurrence's residual.
struct RenewUnit {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double*) const { set_unit(s, s.norm); }
};

// Sums the square of b - q (q null: of b).
struct SquaredNorm {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  const double* q;

  struct Row {
    double r;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {q ? b[i] - q[i] : b[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const { sum[0] += row.r * row.r; }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// Sum a.b. A start needs the sum, so the pass runs also where the loop has ended.
template <class T>
struct DotOf {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const T* a;
  const T* b;

  struct Row {
    T a, b;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {a[i], b[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += static_cast<double>(row.a) * static_cast<double>(row.b);
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};
using Dot = DotOf<double>;

// Sums {r.z, norm term} for a z that has been computed.
template <bool weighed, class T = double>
struct ResidualNorms {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const T* r;
  const T* z;
  NormTerm norm;

  struct Row {
    T r, z;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {r[i], z[i], LoopWeight<weighed>::of(norm, i)};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    sum[0] += static_cast<double>(row.r) * static_cast<double>(row.z);
    sum[1] += row.weight.term(row.r, row.z, s);
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// r = b - q (q null: r = b) and z = D^-1 r; sums {r.z, norm term}.
template <class T>
struct TrueResidualOf {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  T* z;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, z, inverse, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {q ? b[i] - q[i] : b[i], 0, inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    double exact = row.r;
    if constexpr (kIsFloat<T>) {
      exact = row.r / s.unit;
      row.r = static_cast<T>(exact);
    }
    row.z = static_cast<T>(row.inverse * row.r);
    sum[0] += row.r * row.z;
    sum[1] += norm(exact, row.z, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = static_cast<T>(row.r);
    z[i] = static_cast<T>(row.z);
  }
};
using TrueResidual = TrueResidualOf<double>;

// r = b - A x and z = M^-1 r; the sums {r.z, norm term} are pending. `q` is a work vector. Vectors
// in FP32 get their unit.
TRIREME_RUNS_EXECUTOR
template <class Exec, class M, class T>
TRIREME_HD void true_residual(Exec& e, const SystemVectors& v, const M& m, bool x_is_zero, T* r,
                              T* z, double* q) {
  if (!x_is_zero) e.exact_product(v.x, q);
  const double* const product = x_is_zero ? nullptr : q;
  if constexpr (kIsFloat<T>) e.pass(SquaredNorm{v.b, product}, SetUnit{});
  e.pass(TrueResidualOf<T>{v.b, product, r, z, pointwise_part<T>(m), v.norm});
  if constexpr (!M::pointwise) {
    e.forget_sums();
    m.apply(e, r, z);
    by_weights(e, v.norm, [&](auto weighed) {
      e.pass(ResidualNorms<weighed.value, T>{r, z, v.norm});
    });
  }
}

template <class From, class To, bool into_unit>
struct ChangeUnit {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const From* from;
  To* to;

  struct Row {
    double value;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {static_cast<double>(from[i])}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.value = into_unit ? row.value / s.unit : row.value * s.unit;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    to[i] = static_cast<To>(row.value);
  }
};
// to = from / State::unit in FP32, and to = State::unit from in FP64.
using IntoUnit = ChangeUnit<double, float, true>;
using OutOfUnit = ChangeUnit<float, double, false>;

// x += State::unit steps, steps = 0: what a loop with FP32 vectors has kept apart from x.
struct AddSteps {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  float* steps;
  double* x;

  struct Row {
    double steps, x;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {wide(steps[i]), x[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const { row.x += s.unit * row.steps; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    x[i] = row.x;
    steps[i] = 0;
  }
};

// The same in every second of the rounds of 4 iterations that an executor records.
struct AddStepsOfTwoRounds : AddSteps {
  static constexpr bool always = false;
  TRIREME_HD static bool due(const State& s) { return (s.iterations & 4) != 0; }
};

// steps = 0, whatever the memory holds.
struct ForgetSteps {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  float* steps;

  struct Row {};
  TRIREME_HD Row load(std::int64_t) const { return {}; }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row&) const { steps[i] = 0; }
};

// After some iterations, so that few steps are rounded together.
TRIREME_RUNS_EXECUTOR
template <class Exec, class T>
TRIREME_HD void complete_x_at_times(Exec& e, T* steps, double* x) {
  if constexpr (kIsFloat<T>) {
    if (!e.ends_round()) return;
    if (e.records())
      e.pass(AddStepsOfTwoRounds{{steps, x}});
    else
      e.pass(AddSteps{steps, x});
  }
}

// The norm of b, from {b.M^-1 b, norm term}: rtol is relative to it where x0 is given.
struct SetReference {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.reference = chosen_norm(s, sum[0], sum[1]);
  }
};

// Applies PETSc's rule that r.z must be nonzero and never change its sign. `rho` is r.z, and `last`
// is r.z of the iteration before. If the rule is broken, the loop ends after the remaining passes
// of this iteration.
TRIREME_HD void check_preconditioner(State& s, double rho, double last) {
  if (!is_finite(rho)) return stop(s, Reason::not_finite);
  if (rho == 0)
    return stop(s, s.rule.norm == NormKind::none || s.norm == 0
                       ? Reason::atol
                       : Reason::indefinite_preconditioner);
  if (rho * last < 0) stop(s, Reason::indefinite_preconditioner);
}

}  // namespace trireme::solvers
