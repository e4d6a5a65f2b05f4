// SPDX-License-Identifier: BSD-3-Clause
#include "api/system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "distributed/scaling/system_scale.hpp"

namespace trireme::api {

System::System(const Ranks& ranks, const Numbers& of_b, Vector of_caller, bool guess,
               const MatrixScale& matrix, Gpu* gpu)
    : b(of_b), callers_x_(std::move(of_caller)) {
  const std::size_t size = of_b.size();
  if (of_b.gpu() != gpu) {
    own_b_ = Vector(size, gpu);
    own_b_.take(of_b);
    b = own_b_;
  }
  const VectorSize of = size_of_finite(ranks, b, "b");
  const VectorSize of_guess = guess ? size_of_finite(ranks, callers_x_, "x") : VectorSize{};
  has_guess = of_guess.largest > 0;
  exponent = right_hand_side_exponent(of.largest, of_guess.largest, matrix.exponent);
  if (exponent != 0 || matrix.negated) {
    if (own_b_.empty()) own_b_ = Vector(size, gpu);
    own_b_.take(b, -exponent, matrix.negated);
    b = own_b_;
  }
  unit = exponent == 0 ? of.norm : norm_of(ranks, b);
  of_x = exponent - matrix.exponent;
  if (of_x == 0 && callers_x_.gpu() == gpu)
    x = callers_x_.part(0, size);
  else
    x = Vector(size, gpu);
  if (has_guess && x.data() != callers_x_.data()) x.take(callers_x_, -of_x, false);
}

double System::atol(const SolveOptions& how) const { return std::ldexp(how.atol, -exponent); }

double System::target(const SolveOptions& how) const {
  return std::max(how.rtol * unit, atol(how));
}

void System::give_solution() {
  if (x.data() == callers_x_.data()) return;
  callers_x_.take(x, of_x, false);
  if (of_x != 0) x.take(callers_x_, -of_x, false);
}

LoopVectors::LoopVectors(const Ranks& ranks, const System& system, const SystemScaling& scaling) {
  const auto scaled = [&](const Array<double>& numbers) {
    Vector made(numbers.size(), system.b.gpu());
    made.take(std::span<const double>(numbers));
    return made;
  };
  const Array<double> of_b = system.b.copy_on_host();
  const Array<double> of_x =
      system.has_guess ? Numbers(system.x).copy_on_host() : Array<double>(system.x.size(), 0.0);
  exponent = loop_exponent(ranks.comm(), scaling, of_b, of_x);
  const Array<double> rows = scaling.to_rows(of_b, -exponent);
  b = scaled(rows);
  x = scaled(scaling.to_columns(of_x, -exponent));
  unit = ranks.norm(rows);
}

void LoopVectors::give_solution(const Numbers& of_loop, const SystemScaling& scaling,
                                Vector& to) const {
  const Array<double> of_system = scaling.from_columns(of_loop.copy_on_host(), exponent);
  to.take(std::span<const double>(of_system));
}

}  // namespace trireme::api
