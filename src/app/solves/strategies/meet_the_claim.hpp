// SPDX-License-Identifier: BSD-3-Clause
// A loop on a scaled system ends by norms of that system, and what is claimed is the residual of
// the problem.
#pragma once

#include <cstddef>

#include "app/solves/scaled_system.hpp"
#include "app/solves/solve_parts.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// Where the loop has ended by its own norm with an `x` whose residual in the rows of the problem is
// larger than what is asked for, the loop goes on from there with a tolerance that is smaller by as
// much, a few times, as part of the same solve. b and x are those of the loop. Does nothing for a
// system that is not scaled. Collective.
void meet_the_claim(SolveParts& parts, std::size_t k, const ScaledSystem& system, Vec b, Vec x,
                    KspResult& result);

}  // namespace trireme
