// SPDX-License-Identifier: BSD-3-Clause
// The norm that the test of convergence sums, beside the sums that a method needs anyway.
#pragma once

#include <cstdint>

#include "solvers/preconditioners/diagonal.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// One over the size of each row, R, where a test of convergence heeds the sizes.
struct RowWeights {
  enum class From { nothing, jacobi, array };  // the same on all processes
  From from = From::nothing;
  Diagonal inverse_sizes = {};
  TRIREME_HD double operator[](std::int64_t i) const {
    return from == From::array ? inverse_sizes[i] : 0;
  }
};

// What is summed for the square of the norm that the caller tests: plain_part r^2 + other_part t^2,
// where t is z = M^-1 r, the preconditioned residual, or R r. So the unpreconditioned norm is (1,
// 0), the preconditioned one (0, 1), and a norm with row sizes both. Where Jacobi's D^-1 serves as
// R, t is z in any case, and nothing more is read. The bracket keeps a product with 0 from being 0
// times infinity.
struct NormTerm {
  RowWeights rows = {};  // From::array: t is R r
  TRIREME_HD double operator()(double r, double z, double weight, const State& s) const {
    const double t = rows.from == RowWeights::From::array ? weight * r : z;
    return s.plain_part * (r * r) + (s.other_part * t) * t;
  }
};

// The norm term of a solve by `rule` in a solver with these row weights.
TRIREME_HD NormTerm norm_term(const Tolerances& rule, const RowWeights& row_weights) {
  const bool rows = rule.norm == NormKind::unpreconditioned && rule.rows != RowTest::none;
  return {rows ? row_weights : RowWeights()};
}

// The same for a pass of a loop, which is compiled twice, because a number per row that is not used
// would take registers and time. `weighed`: t is R r with R in an array of its own.
template <bool weighed>
struct LoopWeight {
  TRIREME_HD static LoopWeight of(const NormTerm&, std::int64_t) { return {}; }
  TRIREME_HD double term(double r, double z, const State& s) const {
    return s.plain_part * (r * r) + (s.other_part * z) * z;
  }
  TRIREME_HD double term(const Four<double>& r, const Four<double>& z, const State& s) const {
    return sum_of(s.plain_part * (r * r) + (s.other_part * z) * z);
  }
};
template <>
struct LoopWeight<true> {
  double weight;
  TRIREME_HD static LoopWeight of(const NormTerm& norm, std::int64_t i) { return {norm.rows[i]}; }
  TRIREME_HD double term(double r, double, const State& s) const {
    const double t = weight * r;
    return s.plain_part * (r * r) + (s.other_part * t) * t;
  }
};

}  // namespace trireme::solvers
