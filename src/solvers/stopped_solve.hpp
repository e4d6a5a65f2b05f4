// SPDX-License-Identifier: BSD-3-Clause
// What a solve that was stopped leaves beside x, so that another can go on from there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// Nothing in it depends on the executor, the variant of CG, the order in which a kernel keeps its
// rows, or the number of processes. r = b - A x and everything else is computed from it anew.
struct StoppedSolve {
  std::int64_t iterations = 0;    // done so far
  double reference = 0;           // the norm that rtol is a part of
  std::int32_t replacements = 0;  // of the recurrence residual by b - A x
  std::int64_t exact_from = -1;   // as SolveResult's
  // This process's rows. CG: the next direction p. BiCGSTAB: the shadow residual r0 and the next p.
  std::vector<Array<double>> directions;
};

// The scalars of a solve that is over, and those with which another goes on.
inline StoppedSolve scalars_of(const State& state, std::int64_t exact_from) {
  return {state.iterations, state.reference, state.replacements, exact_from, {}};
}
inline State state_of(const StoppedSolve& stopped) {
  State state;
  state.iterations = stopped.iterations;
  state.reference = stopped.reference;
  state.replacements = stopped.replacements;
  return state;
}

}  // namespace trireme::solvers
