// SPDX-License-Identifier: BSD-3-Clause
// A right-hand side as loops work on it, where squares are doubles.
//
//   b, x of the caller --2^k, sign--> System --D_r, D_c P--> loop
//                                       |                      |
//                         b - A x is computed here <--- x <----+
#pragma once

#include <trireme/solver.hpp>

#include <optional>
#include <span>

#include "base/array.hpp"
#include "distributed/plain_residual.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme::api {

// How the matrix that a Solver keeps is the caller's: times 2^-exponent, and -1 where negated.
struct MatrixScale {
  int exponent = 0;
  bool negated = false;
};

struct System {
  // `of_x0`: the caller's guess; empty: 0.
  System(std::span<const double> of_b, std::span<const double> of_x0, const MatrixScale& matrix);

  int exponent;  // b is the caller's times 2^-exponent, or that times -1
  int of_x;      // the caller's x is x times 2^of_x
  Array<double> b, x;
  double unit;             // ||b||
  bool has_guess = false;  // x is not zero

  // Tolerances of the caller in this scale.
  double atol(const SolveOptions& how) const;
  double target(const SolveOptions& how) const;  // of ||b - A x||
  // The x of the caller, to which x is rounded, so that what is judged later is what the caller
  // gets.
  void give_solution(std::span<double> to);
};

// The vectors of a loop on a scaled matrix.
struct LoopVectors {
  LoopVectors(const System& system, const SystemScaling& scaling);
  // To be called with the x of the loop.
  Array<double> to_system(std::span<const double> of_loop, const SystemScaling& scaling) const;

  int exponent;  // the loop's numbers are 2^-exponent of the scaled ones
  Array<double> b, x;
  double unit;  // ||b||
};

}  // namespace trireme::api
