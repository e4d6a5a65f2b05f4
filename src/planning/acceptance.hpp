// SPDX-License-Identifier: BSD-3-Clause
// When a solve counts as solved, and what is done where its loop claims more than b - A x shows.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "distributed/plain_residual.hpp"
#include "solvers/tolerances.hpp"

namespace trireme {

// The excess that a claim of convergence may have, for rounding.
inline constexpr double kWithRounding = 1.02;
// Of ||b||: a larger residual is no guess for another method.
inline constexpr double kGoodGuess = 0.1;
// Of the larger of ||b|| and the first residual. BiCGSTAB on 27 real systems: those that were
// solved grew by up to 400 with one right-hand side and 10,000 with another; beyond 1e8 none came
// back.
inline constexpr double kDivergenceBound = 1e8;

// norm / of, or the norm itself where there is nothing to compare it with.
inline double relative(double norm, double of) { return of > 0 ? norm / of : norm; }

// How often the residual is `target`, in the worst one of the norms that `rows` wants small. `unit`
// is ||b||.
inline double excess_of(const Residual& residual, double target, double unit,
                        solvers::RowTest rows) {
  const double as_it_is = residual.norm / target;
  if (rows == solvers::RowTest::none || !residual.of_rows) return as_it_is;
  const double of_rows = *residual.of_rows / relative(target, unit);
  return rows == solvers::RowTest::only ? of_rows : std::max(as_it_is, of_rows);
}

// A loop on a scaled system may claim too much, and is then asked for a part of the tolerance, so
// many times at most.
inline constexpr int kMostTimesTighter = 4;
// The part to ask for after `part` has led to this excess. Empty: the claim holds, or rounding
// leaves no room below.
inline std::optional<double> tighter_part(double part, double excess) {
  constexpr double kLeastPart = 0x1p-40;
  if (!std::isfinite(excess) || excess <= kWithRounding) return std::nullopt;
  const double next = std::ldexp(part, -1 - std::ilogb(excess));
  return next < kLeastPart ? std::nullopt : std::optional(next);
}

}  // namespace trireme
