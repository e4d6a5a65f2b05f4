// SPDX-License-Identifier: BSD-3-Clause
// What the reports say about the machine.
#pragma once

#include <mpi.h>

#include "report/outcome.hpp"

namespace trireme {

// All but the name of the GPU and the bandwidth of the memory. Collective.
MachineDescription describe_machine(MPI_Comm comm);

}  // namespace trireme
