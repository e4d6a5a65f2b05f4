// SPDX-License-Identifier: BSD-3-Clause
// How long a solve that runs will go on, from the residual norms that it has had so far.
#pragma once

#include <cstdint>
#include <span>

namespace trireme {

// The number of iterations that a solve still needs. `norms` are the residual norms from iteration
// 0, `target` is the norm at which the solve ends, and `limit` is the maximum of all iterations.
//
// The smallest norms of the third and of the last quarter give the rate of convergence, because
// single norms of CG and BiCGSTAB rise and fall. The result is at most 10 times the iterations so
// far, since a rate says little about a future that is much longer than the past. Where the norm
// does not fall, the solve is expected to take twice as long again as it has taken.
std::int64_t expected_iterations(std::span<const double> norms, double target, std::int64_t limit);

}  // namespace trireme
