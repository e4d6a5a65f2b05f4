// SPDX-License-Identifier: BSD-3-Clause
// Scales a right-hand side, and compares its guess with 0.
#include "app/solves/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trireme {
namespace {

// 2 newer - older
Array<double> extrapolated(const Array<double>& newer, const Array<double>& older) {
  Array<double> guess(newer.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < newer.size(); ++i) guess[i] = 2 * newer[i] - older[i];
  return guess;
}

}  // namespace

ScaledSystem::ScaledSystem(const SolveContext& context, std::size_t k, std::span<const double> x)
    : exponent(right_hand_side_exponent(context.matrix->comm, context.rhs(k), x,
                                        context.exponent_of_matrix())),
      of_x(exponent - context.exponent_of_matrix()),
      b(context.rhs(k), -exponent),
      x0(x, -of_x),
      rhs_norm(context.plain.norm(b.values())),
      scaling_(context.scaling) {
  if (scaling_) scale_loop(context.matrix->comm);
  loop_.of_x = of_x + shift_;
}

void ScaledSystem::scale_loop(MPI_Comm comm) {
  shift_ = loop_exponent(comm, *scaling_, b.values(), x0.values());
  loop_b_ = scaling_->to_rows(b.values(), -shift_);
  if (!x0.values().empty()) loop_x0_ = scaling_->to_columns(x0.values(), -shift_);
}

void ScaledSystem::measure_loop(PlainProduct& plain, bool nonzero_guess) {
  const double of_b = plain.norm(loop_b_);
  loop_.first_norm = of_b;
  if (nonzero_guess) {
    Array<double> r(loop_b_.size());
    plain.multiply(x0.values(), r);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b.values()[i] - r[i];
    loop_.first_norm = plain.norm(scaling_->to_rows(r, -shift_));
  }
  loop_.unit = of_b > 0 ? of_b : loop_.first_norm;
}

Array<double> ScaledSystem::from_loop(Array<double>&& x) const {
  return scaling_ ? scaling_->from_columns(x, shift_) : std::move(x);
}

void ScaledSystem::measure(PlainProduct& plain, bool nonzero_guess) {
  first_norm = nonzero_guess ? plain.residual_norm(b.values(), x0.values()) : rhs_norm;
  unit = rhs_norm > 0 ? rhs_norm : first_norm;
  if (scaling_) return measure_loop(plain, nonzero_guess);
  loop_.first_norm = first_norm;
  loop_.unit = unit;
}

FirstGuess guess_of(const SolveContext& context, std::size_t k) {
  if (k < context.from.size() && !context.from[k].empty())
    return {.name = "the rung before", .x = context.from[k], .nonzero = true};
  if (!context.problem.x0) return {};
  return {.name = "x0", .x = *context.problem.x0, .nonzero = true};
}

FirstGuess guess_from(const std::vector<Array<double>>& solutions, std::size_t k, Guess rule) {
  if (rule == Guess::zero) return {};
  const bool line = rule == Guess::extrapolate && k > 1;
  FirstGuess guess{.name = std::string(to_string(line ? Guess::extrapolate : Guess::previous)),
                   .x = solutions[k - 1],
                   .nonzero = true};
  if (!line) return guess;
  guess.made = extrapolated(solutions[k - 1], solutions[k - 2]);
  guess.x = guess.made;
  return guess;
}

std::unique_ptr<ScaledSystem> system_from(FirstGuess& first, std::size_t k, SolveParts& parts,
                                          bool by_solver) {
  PlainProduct& plain = parts.context.plain;
  auto system = std::make_unique<ScaledSystem>(parts.context, k, first.x);
  // The solver does not notice where b, scaled for the sake of the guess, loses its squares.
  const bool left_to_solver =
      by_solver && first.nonzero && system->rhs_norm > 0 && system->exponent == 0;
  system->measure(plain, first.nonzero && !left_to_solver);
  if (!first.nonzero || left_to_solver || !parts.plan.solver->may_leave_out_guess() ||
      !(system->rhs_norm > 0 && system->first_norm > system->rhs_norm))
    return system;
  parts.records.add_worse_guess(k, first.name, relative(system->first_norm, system->rhs_norm));
  first = {};
  system = std::make_unique<ScaledSystem>(parts.context, k, first.x);
  system->measure(plain, false);
  return system;
}

}  // namespace trireme
