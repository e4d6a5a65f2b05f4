// SPDX-License-Identifier: BSD-3-Clause
// A right-hand side as loops work on it, where squares are doubles.
//
//   b, x of the caller --2^k, sign--> System --D_r, D_c P--> loop
//                                       |                      |
//                         b - A x is computed here <--- x <----+
//
// What needs no change is not copied: the vectors of the system are the caller's then. Those of a
// solver on a GPU are there, and only scalings that are not powers of two are made on the host.
#pragma once

#include <trireme/solver.hpp>

#include <optional>
#include <span>

#include "api/numbers.hpp"
#include "base/array.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme::api {

// How the matrix that a Solver keeps is the caller's: times 2^-exponent, and -1 where negated.
struct MatrixScale {
  int exponent = 0;
  bool negated = false;
};

class System {
 public:
  // `of_caller` refers to the caller's x, which must outlive this as b must. With `guess` it is the
  // initial guess. `gpu`: where the loops are; null: on the host. Throws Error{input} for numbers
  // that are not finite. Collective.
  System(const Ranks& ranks, const Numbers& of_b, Vector of_caller, bool guess,
         const MatrixScale& matrix, Gpu* gpu);

  // Tolerances of the caller in this scale.
  double atol(const SolveOptions& how) const;
  double target(const SolveOptions& how) const;  // of ||b - A x||
  // Hands x to the caller, and rounds it to what the caller gets.
  void give_solution();
  bool changes_x() const { return of_x != 0; }

  int exponent = 0;  // b is the caller's times 2^-exponent, or that times -1
  int of_x = 0;      // the caller's x is x times 2^of_x
  Numbers b;
  Vector x;
  double unit = 0;  // ||b||
  // Loops begin from x. False: from 0, and x has no numbers before one has run.
  bool has_guess = false;

 private:
  Vector own_b_, callers_x_;
};

// The vectors of a loop on a scaled matrix.
class LoopVectors {
 public:
  // Collective, as is give_solution().
  LoopVectors(const Ranks& ranks, const System& system, const SystemScaling& scaling);
  // Brings the x of the loop to `to`, an x of the system.
  void give_solution(const Numbers& of_loop, const SystemScaling& scaling, Vector& to) const;

  int exponent = 0;  // the loop's numbers are 2^-exponent of the scaled ones
  Vector b, x;
  double unit = 0;  // ||b||
};

}  // namespace trireme::api
