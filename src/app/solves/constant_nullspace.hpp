// SPDX-License-Identifier: BSD-3-Clause
// Systems that have no solution because the matrix maps constant vectors to zero.
#pragma once

#include <span>

#include "app/solves/plain_product.hpp"
#include "distributed/distributed_matrix.hpp"
#include "petsc/ksp/reasons.hpp"

namespace trireme {

// Where the matrix is symmetric and its rows add up to zero but for rounding, no x changes the sum
// of the components of A x, which is 0. If that of b is so far from 0 that no x has a residual of
// `target`, the verdict says so, and
// the result is true. Collective.
bool explain_constant_nullspace(Verdict& verdict, const DistributedMatrix& matrix,
                                PlainProduct& product, std::span<const double> b, double target);

}  // namespace trireme
