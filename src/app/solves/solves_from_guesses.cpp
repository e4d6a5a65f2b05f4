// SPDX-License-Identifier: BSD-3-Clause
// Where solves begin: from a guess, or from 0 where that has a smaller residual.
#include <utility>

#include "app/solves/solves.hpp"

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

Solves::FirstGuess Solves::guess(std::size_t k) const {
  const Guess rule = context_.spec.solver.guess;
  if (!context_.steps || k == 0) {
    const auto& x0 = context_.problem.x0;
    return x0 ? FirstGuess{.name = "x0", .x = *x0, .nonzero = true} : FirstGuess();
  }
  if (rule == Guess::zero) return {};
  FirstGuess guess{
      .name = std::string(to_string(Guess::previous)), .x = solutions_[k - 1], .nonzero = true};
  if (rule == Guess::extrapolate && k > 1) {
    guess.name = to_string(Guess::extrapolate);
    guess.made = extrapolated(solutions_[k - 1], solutions_[k - 2]);
    guess.x = guess.made;
  }
  return guess;
}

void Solves::make_system(std::optional<ScaledSystem>& system, std::size_t k, FirstGuess& first,
                         bool by_solver) {
  system.emplace(*this, k, first.x);
  // The solver does not notice where b, scaled for the sake of the guess, loses its squares.
  const bool left_to_solver =
      by_solver && first.nonzero && system->rhs_norm > 0 && system->exponent == 0;
  system->measure(*this, first.nonzero && !left_to_solver);
  if (!first.nonzero || left_to_solver || !plan_.solver->may_leave_out_guess() ||
      !(system->rhs_norm > 0 && system->first_norm > system->rhs_norm))
    return;
  records_.add_worse_guess(k, first.name, relative(system->first_norm, system->rhs_norm));
  first = {};
  system.emplace(*this, k, first.x);
  system->measure(*this, false);
}

}  // namespace trireme
