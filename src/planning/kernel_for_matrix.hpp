// SPDX-License-Identifier: BSD-3-Clause
// The rule of planning/choose.hpp applied to a distributed matrix.
#pragma once

#include <string_view>

#include "distributed/distributed_matrix.hpp"
#include "planning/choose.hpp"

namespace trireme {

// What the rule looks at, of all ranks together. Collective.
MatrixTraits traits_of(const DistributedMatrix& matrix);

// The same with what the cost model looks at besides. On a CPU, where values are stored as they
// are, exact_in_float remains false. Collective.
MatrixTraits traits_for_cost_model(const DistributedMatrix& matrix, Device device);

// The kernel that `auto` stands for; the same on every rank. Collective.
std::string_view choose_kernel_for(const DistributedMatrix& matrix, Device device,
                                   Precision precision);

}  // namespace trireme
