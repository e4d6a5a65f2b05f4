// SPDX-License-Identifier: BSD-3-Clause
// What `method: auto` would do with a system and why, without a solve.
#pragma once

#include <mpi.h>

#include <string>

#include "config/case.hpp"

namespace trireme {

// Several lines: the system, what looks tell of the matrix, and the rungs in their order. Reads and
// distributes the system as run_case() does, writes nothing, and throws what run_case() throws
// before the first solve. Collective.
std::string explain_case(MPI_Comm comm, const Case& c);

}  // namespace trireme
