// SPDX-License-Identifier: BSD-3-Clause
// What the reports say about the machine.
#pragma once

#include <mpi.h>

#include "report/outcome.hpp"

namespace trireme {

MachineFacts machine_facts(MPI_Comm comm);

}  // namespace trireme
