// SPDX-License-Identifier: BSD-3-Clause
#include "api/system.hpp"

#include <algorithm>
#include <cmath>

#include "distributed/scaling/system_scale.hpp"

namespace trireme::api {

System::System(std::span<const double> of_b, std::span<const double> of_x0,
               const MatrixScale& matrix)
    : exponent(right_hand_side_exponent(MPI_COMM_SELF, of_b, of_x0, matrix.exponent)),
      of_x(exponent - matrix.exponent),
      b(times_power_of_two(of_b, -exponent)),
      x(times_power_of_two(of_x0, -of_x)),
      unit(plain_norm(b)) {
  if (matrix.negated)
    for (double& value : b) value = -value;
  x.resize(b.size(), 0.0);
  has_guess = std::ranges::any_of(x, [](double v) { return v != 0; });
}

double System::atol(const SolveOptions& how) const { return std::ldexp(how.atol, -exponent); }

double System::target(const SolveOptions& how) const {
  return std::max(how.rtol * unit, atol(how));
}

void System::give_solution(std::span<double> to) {
  const Array<double> of_caller = times_power_of_two(x, of_x);
  std::ranges::copy(of_caller, to.begin());
  if (of_x != 0) x = times_power_of_two(of_caller, -of_x);
}

LoopVectors::LoopVectors(const System& system, const SystemScaling& scaling)
    : exponent(loop_exponent(MPI_COMM_SELF, scaling, system.b, system.x)),
      b(scaling.to_rows(system.b, -exponent)),
      x(scaling.to_columns(system.x, -exponent)),
      unit(plain_norm(b)) {}

Array<double> LoopVectors::to_system(std::span<const double> of_loop,
                                     const SystemScaling& scaling) const {
  return scaling.from_columns(of_loop, exponent);
}

}  // namespace trireme::api
