// SPDX-License-Identifier: BSD-3-Clause
// A right-hand side as the solver works on it, and the guess from which its solve begins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/solves/solve_parts.hpp"
#include "distributed/scaling/system_scale.hpp"

namespace trireme {

// b and x, scaled by powers of two, in the rows and columns of the problem.
struct ScaledSystem {
  // `x` is in the caller's scale, like the right-hand side; empty: 0. Both must outlive this.
  // Collective.
  ScaledSystem(const SolveContext& context, std::size_t k, std::span<const double> x);
  // Computes first_norm and unit. Collective.
  void measure(PlainProduct& plain, bool nonzero_guess);

  int exponent;  // b is the caller's times 2^-exponent
  int of_x;      // the caller's x is the solver's times 2^of_x
  Scaled b, x0;
  double rhs_norm;
  double first_norm = 0;  // of the residual of the initial guess
  double unit = 0;        // what relative norms are relative to

  // The system as the loop has it, whose rows and columns may be scaled once more. Its numbers are
  // known after measure().
  struct Loop {
    int of_x = 0;  // the caller's x is the loop's, with its columns scaled back, times 2^of_x
    double first_norm = 0, unit = 0;
  };
  const Loop& loop() const { return loop_; }
  std::span<const double> loop_b() const { return scaling_ ? loop_b_ : b.values(); }
  std::span<const double> loop_x0() const { return scaling_ ? loop_x0_ : x0.values(); }
  // The x of this system.
  Array<double> from_loop(Array<double>&& x) const;
  // How often the loop's norms have the norms of this system.
  double loop_norms() const { return unit > 0 ? loop_.unit / unit : 1; }

 private:
  void scale_loop(MPI_Comm comm);
  void measure_loop(PlainProduct& plain, bool nonzero_guess);

  const SystemScaling* scaling_;
  int shift_ = 0;  // the loop's numbers are 2^-shift_ of the scaled ones
  Array<double> loop_b_, loop_x0_;
  Loop loop_;
};

// Where a solve begins, in the caller's scale.
struct FirstGuess {
  std::string name = "zero";  // or previous, extrapolate, x0
  std::span<const double> x = {};
  bool nonzero = false;
  Array<double> made = {};  // the memory of x, where nobody else has it
};

// What an earlier rung of `method: auto` has come to for right-hand side k, or the guess that the
// problem has for each of them, or 0.
FirstGuess guess_of(const SolveContext& context, std::size_t k);
// The guess for step k > 0 of a sequence, from the solutions of the steps before it.
FirstGuess guess_from(const std::vector<Array<double>>& solutions, std::size_t k, Guess rule);

// The system of right-hand side k. A guess whose residual is larger than that of 0 becomes 0, and
// the records say so. `by_solver`: the solver sees to it, and the norm of the first residual is not
// known yet. Collective.
std::unique_ptr<ScaledSystem> system_from(FirstGuess& first, std::size_t k, SolveParts& parts,
                                          bool by_solver = false);

}  // namespace trireme
