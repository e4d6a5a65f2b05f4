// SPDX-License-Identifier: BSD-3-Clause
// The data that a stopped solve leaves beside x, so that another solve can go on from them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// The data do not depend on the executor, the variant of CG, the row order of a kernel, or the
// number of processes. The solve that goes on computes r = b - A x and all other data anew.
struct StoppedSolve {
  std::int64_t iterations = 0;    // done so far
  double reference = 0;           // the norm that rtol is relative to
  std::int32_t replacements = 0;  // how often b - A x replaced the recurrence's residual
  std::int64_t exact_from = -1;   // the same as SolveResult::exact_from
  // This process's rows, in the caller's row order. CG: the next direction p. BiCGSTAB: the shadow
  // residual r0 and the next p. MINRES and GMRES: none.
  std::vector<Array<double>> directions;
  // The solve goes on in a new Krylov space, as it must with another preconditioner. It needs no
  // directions then.
  bool new_space = false;
};

// The scalars of a solve that has ended, without directions.
inline StoppedSolve scalars_of(const State& state, std::int64_t exact_from) {
  return {state.iterations, state.reference, state.replacements, exact_from, {}};
}
// The state with which a solve goes on from `stopped`; its rule is not set.
inline State state_of(const StoppedSolve& stopped) {
  State state;
  state.iterations = stopped.iterations;
  state.reference = stopped.reference;
  state.replacements = stopped.replacements;
  return state;
}

}  // namespace trireme::solvers
