// SPDX-License-Identifier: BSD-3-Clause
// One right-hand side after another, each in a solve by itself. The other strategies use it where
// they have one right-hand side to solve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/solves/scaled_system.hpp"
#include "app/solves/solve_parts.hpp"
#include "app/solves/strategies/solve_strategy.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class OneByOne final : public SolveStrategy {
 public:
  // `parts` must outlive this. Collective.
  explicit OneByOne(SolveParts& parts);

  bool solve(std::size_t k) override;

  // Where a solve began.
  struct Beginning {
    std::string guess;
    double residual = 0;  // ||b - A x0|| / ||b||
  };
  // Solves right-hand side k from a guess. `solves_after`: how many solves follow, in units of a
  // solve by itself. Collective.
  Beginning solve_from(FirstGuess first, std::size_t k, std::int64_t solves_after);

  struct Solve {
    std::size_t k = 0;
    std::int64_t solves_after = 0;  // as of solve_from()
    bool nonzero_guess = false;
    int of_x = 0;       // as ScaledSystem::Loop has it
    double unit = 0;    // what the norms that observers see are relative to
    double target = 0;  // the norm at which the solve ends
  };
  // One solve, with checkpoints and with changes of kernel and preconditioner, of what solve_from()
  // has prepared, or of the vectors in GPU memory that the solver was given. Collective.
  KspResult run(const Solve& what);

  // As meet_the_claim.hpp, for a solve in a block that has ended with `x` of the loop. Collective.
  void meet_the_claim(std::size_t k, const ScaledSystem& system, KspResult& result,
                      Array<double>& x);

  // Comes before the plan is given up, and after it was replaced. Collective.
  void let_go_of_plan();
  void take_plan();

 private:
  Interlude interlude() const;  // what is done between two iterations

  SolveParts& parts_;
  Array<double> values_of_x_, values_of_b_;  // of the vectors
  VecHandle x_, b_;
};

}  // namespace trireme
