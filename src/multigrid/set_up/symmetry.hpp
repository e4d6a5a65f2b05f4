// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix is symmetric, by two products.
#pragma once

#include "distributed/host_operator.hpp"

namespace trireme::multigrid {

// Compares x^T A y with y^T A x for two random vectors, which differ almost surely where A is not
// symmetric beyond rounding. The result is the same on every rank. Collective.
bool is_symmetric(HostOperator& op);

}  // namespace trireme::multigrid
