// SPDX-License-Identifier: BSD-3-Clause
// Judges solutions by b - A x, also those of an earlier run, and records what came of the solves.
#pragma once

#include "app/solves/scaled_system.hpp"
#include "app/solves/solve_parts.hpp"

namespace trireme {

// A solve of right-hand side k has ended with `x`, which is in the scale of `system`. Collective.
void note_solve(SolveParts& parts, std::size_t k, const ScaledSystem& system, KspResult result,
                Array<double> x);
// The part of note_solve() that needs no x.
void record_solve(SolveParts& parts, std::size_t k, KspResult&& result, double relative_residual,
                  double unit);
// Judges what an earlier run has left for right-hand side k as a solution of this run is judged.
// False: it falls short, and is to be solved again. Collective.
bool take_over(SolveParts& parts, std::size_t k);

}  // namespace trireme
